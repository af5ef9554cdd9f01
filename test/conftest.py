"""Settings that all tests share."""

from __future__ import annotations

import signal

from hypothesis import settings

# The same examples on every machine and in every run; no time limit, since machines are shared.
settings.register_profile("dvrk", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("dvrk")

# A shell that starts this in the background lets it ignore SIGINT, and all that tests start and
# interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
