"""Settings that all tests share."""

from __future__ import annotations

import signal

from hypothesis import settings

# The same examples on every machine and in every run; no time limit, since machines are shared.
settings.register_profile("dvrk", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("dvrk")

# A shell that starts this in the background lets it ignore SIGINT and SIGQUIT, nohup SIGHUP, and
# all that tests start would inherit that. A signal that has a handler here is back to its default
# in a new program, while the tests themselves go on below nohup when the terminal is closed.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)
