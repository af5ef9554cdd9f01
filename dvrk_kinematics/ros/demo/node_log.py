"""What nodes print, written to a file, with the last word of each at hand."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from typing import TextIO

__all__ = ["NodeLog"]

_LINE = re.compile(r"\[(?P<label>[^]]+)\] (?:\[\w+\] \[[\d.]+\] \[[^]]+\]: )?(?P<text>.*)")
"""A line of a supervised process: its label, then what ROS puts before a message, if it did."""


class NodeLog:
    """Takes the lines of a supervisor, from several threads.

    Args:
        file: Where they are written.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._last: dict[str, str] = {}
        self._lock = threading.Lock()

    def __call__(self, line: str) -> None:
        """Write a line; on a disk that is full, keep at least the last word of each."""
        with self._lock:
            match = _LINE.fullmatch(line)
            if match is not None:
                self._last[match["label"]] = match["text"]
            # Whoever closes the file hears of what is still not written then.
            with suppress(OSError):
                self._file.write(f"{line}\n")
                self._file.flush()

    def last(self, label: str) -> str:
        """The last that a process said, without stamps."""
        with self._lock:
            return self._last.get(label, "said nothing")
