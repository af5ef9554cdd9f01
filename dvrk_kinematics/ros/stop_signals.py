"""The signals that ask a process to stop."""

from __future__ import annotations

import signal

__all__ = ["stop_signals"]


def stop_signals() -> tuple[signal.Signals, ...]:
    """Ctrl-C, a polite end, and a terminal that is closed, unless nohup has set that aside.

    Whoever starts something below nohup wants it to outlive the terminal: a robot goes on, and
    a recording is not cut short.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return signal.SIGINT, signal.SIGTERM
    return signal.SIGINT, signal.SIGTERM, signal.SIGHUP
