"""What a command shows: a progress bar where somebody watches, plain lines elsewhere."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TextIO

__all__ = ["Page", "ProgressBar", "Terminal", "count_rows", "table", "write_out"]

_WIDTH = 40
_LINE_EVERY = 0.1


def write_out(stream: TextIO, text: str) -> None:
    """Write at once; to nowhere from when nobody is at the other end any more.

    A terminal that was closed must not keep a command from cancelling its goals and ending what it
    has started.

    Args:
        stream: Where to write.
        text: What, with its line breaks.
    """
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        # What could not be written is still in the stream's buffer, and must not fail again at
        # the end of the process, whose exit code would then be another one.
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


class Terminal:
    """Where a command writes its lines; the last one can be drawn over again and again.

    Args:
        stream: Where to write.

    Attributes:
        can_redraw: Whether lines can be drawn over. ``ros2 launch`` gives its processes a terminal
            at which nobody sits, and shows a line only when it is complete.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_drawn = False
        self.can_redraw = _is_in_front(stream)

    def say(self, text: str) -> None:
        """Write a line."""
        self.leave()
        write_out(self._stream, f"{text}\n")

    def draw(self, text: str) -> None:
        """Draw a line over the one that was drawn before."""
        self._is_drawn = True
        write_out(self._stream, f"\r{text}")

    def leave(self) -> None:
        """Leave the line that was drawn as it is."""
        if self._is_drawn:
            self._is_drawn = False
            write_out(self._stream, "\n")


def _is_in_front(stream: TextIO) -> bool:
    """Whether a stream is the terminal of this process, and the process is in its foreground."""
    if not stream.isatty():
        return False
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:
        # A terminal, but not the one that controls this process: only made to look like one.
        return False


class ProgressBar:
    """A bar that fills up; where nobody sees it do so, a line for each tenth.

    Args:
        terminal: Where to write.
        what: What progresses.
    """

    def __init__(self, terminal: Terminal, what: str) -> None:
        self._terminal = terminal
        self._what = what
        self._shown = -1.0

    def show(self, part: float, note: str = "") -> None:
        """Show how far it is.

        Args:
            part: 0 to 1.
            note: A few words behind the bar.
        """
        if self._terminal.can_redraw:
            done = round(_WIDTH * part)
            bar = "#" * done + "." * (_WIDTH - done)
            self._terminal.draw(f"{self._what} [{bar}] {100.0 * part:3.0f} %  {note}   ")
        elif part >= self._shown + _LINE_EVERY or (part >= 1.0 > self._shown):
            self._shown = part
            self._terminal.say(f"{self._what} {100.0 * part:3.0f} %  {note}".rstrip())

    def end(self) -> None:
        """Leave the line."""
        self._terminal.leave()


class Page:
    """Lines that are drawn over together, again and again.

    Args:
        stream: A terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = ""

    def draw(self, text: str) -> None:
        """Draw lines over those that were drawn before."""
        if self._shown:
            # A terminal that was made narrower since has wrapped them anew.
            rows = count_rows(self._shown, shutil.get_terminal_size().columns)
            # Up to the first of them, and away with all to the end of the screen.
            self._stream.write(f"\x1b[{rows}A\x1b[J")
        self._shown = text
        self._stream.write(f"{text}\n")
        self._stream.flush()


def count_rows(text: str, columns: int) -> int:
    """How many rows of a terminal lines take, some of which may be wider than it."""
    return sum(max(1, -(-len(line) // columns)) for line in text.split("\n"))


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns of text."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)
