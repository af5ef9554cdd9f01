"""Writes the nodes' output to a file, and keeps the last message of each node at hand."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from typing import TextIO

__all__ = ["NodeLog"]

_LINE = re.compile(r"\[(?P<label>[^]]+)\] (?:\[\w+\] \[[\d.]+\] \[[^]]+\]: )?(?P<text>.*)")
"""A line of a supervised process: its label, then the prefix that ROS adds, if any."""


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
        """Write a line; on a full disk, keep at least the last message of each process."""
        with self._lock:
            match = _LINE.fullmatch(line)
            if match is not None:
                self._last[match["label"]] = match["text"]
            # Closing the file reports what is still unwritten then.
            with suppress(OSError):
                self._file.write(f"{line}\n")
                self._file.flush()

    def last(self, label: str) -> str:
        """Return a process's last message, without stamps."""
        with self._lock:
            return self._last.get(label, "said nothing")
