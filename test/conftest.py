"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every machine and in every run; no time limit, since machines are shared.
settings.register_profile("dvrk", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("dvrk")
