"""Ends a process that hangs while it shuts down, without needing the interpreter lock.

When peers leave at the same time, Fast DDS can hang in its teardown while it holds the interpreter
lock: ``set_listener`` waits for a discovery thread, which waits for a mutex. No Python thread or
signal handler can run then. So the C library keeps the time: POSIX timers call two plain C
functions, one that writes a line and one that ends the process.
"""

from __future__ import annotations

import ctypes
import faulthandler
import sys
from contextlib import suppress
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

from rclpy.logging import get_logging_directory

__all__ = ["HUNG_ENDS", "EndWatchdog"]

HUNG_ENDS: Final = "hung_ends.log"
"""File in the ROS log folder that records where each process ended by a watchdog hung."""

_MARK: Final = "Timeout ("
"""How faulthandler's output begins, so that entries can be counted."""

_WRITE_S: Final = 0.2
"""How long before the process ends we write the line and the stacks."""

_CLOCK_MONOTONIC: Final = 1
_SIGEV_THREAD: Final = 2


class _Event(ctypes.Structure):
    """``struct sigevent`` of Linux on 64 bits: call ``function(value)`` in a thread of its own."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("padding", ctypes.c_byte * 32),
    )


class _TimerSpec(ctypes.Structure):
    """``struct itimerspec``: the interval, which stays 0, and the time of the single expiry."""

    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class EndWatchdog:
    """Ends this process with a given exit code if it still runs after some time.

    It reports this in one line on stderr. It appends the stacks of all threads to the file
    ``HUNG_ENDS`` beside the ROS logs; the line counts that file's entries. Without POSIX timers
    it does nothing.

    Args:
        name: What to call the process in that line.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._timers: list[ctypes.c_void_p] = []
        self._file: TextIOWrapper | None = None

    def arm(self, within_s: float, code: int, doing: str) -> None:
        """End the process after some time from now; replaces any earlier setting.

        Args:
            within_s: How long it may still run (s), more than 0.2.
            code: Its exit code if the watchdog ends it.
            doing: The activity that takes that long, for the line.
        """
        libc = _libc()
        if libc is None:
            return
        for timer in self._timers:
            libc.timer_delete(timer)
        with suppress(OSError):
            # A read-only folder or a full disk must not keep a process from ending.
            self._file = self._file or _open_log()
        text = f"{doing} took more than {within_s:g} s; ended with exit code {code}"
        write_s = within_s - _WRITE_S
        if self._file is not None:
            faulthandler.dump_traceback_later(write_s, file=self._file)
            text += f"; number {_count(self._file) + 1} in {self._file.name}"
        _set_program_name(libc, self.name)
        self._timers = [
            _call_after(libc, write_s, libc.warnx, _keep(libc, text.replace("%", "%%"))),
            _call_after(libc, within_s, libc._exit, code),
        ]


@cache
def _libc() -> Any:
    """Return the C library; None where it is not the one of Linux."""
    return ctypes.CDLL(None) if sys.platform == "linux" else None


def _call_after(libc: Any, delay_s: float, function: Any, value: int | None) -> ctypes.c_void_p:
    """Schedule a call of a C function with one argument, without any Python thread."""
    address = ctypes.cast(function, ctypes.c_void_p)
    event = _Event(value=value, notify=_SIGEV_THREAD, function=address)
    timer = ctypes.c_void_p()
    if libc.timer_create(_CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)) != 0:
        return timer
    spec = _TimerSpec(value_s=int(delay_s), value_ns=int(delay_s % 1.0 * 1e9))
    libc.timer_settime(timer, 0, ctypes.byref(spec), None)
    return timer


def _keep(libc: Any, text: str) -> int | None:
    """Make a C string that is never freed: the interpreter may be gone when it is read."""
    libc.strdup.restype = ctypes.c_void_p
    address: int | None = libc.strdup(text.encode())
    return address


def _set_program_name(libc: Any, name: str) -> None:
    """Set the name that the C library puts before a line: otherwise ``python3``."""
    shown = ctypes.c_void_p.in_dll(libc, "program_invocation_short_name")
    shown.value = _keep(libc, name)


def _open_log() -> TextIOWrapper:
    folder = Path(get_logging_directory())
    folder.mkdir(parents=True, exist_ok=True)
    return (folder / HUNG_ENDS).open("a+", encoding="utf-8", errors="replace")


def _count(file: TextIOWrapper) -> int:
    file.seek(0)
    return sum(line.startswith(_MARK) for line in file)
