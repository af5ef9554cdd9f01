"""Output of a command: a progress bar on a watched terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TextIO

__all__ = ["Page", "ProgressBar", "Terminal", "count_rows", "table", "write_out"]

_WIDTH = 40
_LINE_EVERY = 0.1


def write_out(stream: TextIO, text: str) -> None:
    """Write at once; discard everything once the other end is gone.

    A closed terminal must not keep a command from cancelling its goals and ending the processes
    it started.

    Args:
        stream: Where to write.
        text: The text, with its line breaks.
    """
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        # The unwritten text is still in the stream's buffer. If it failed again when the process
        # ends, that would change the exit code.
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


class Terminal:
    """Where a command writes its lines; the last one can be redrawn repeatedly.

    Args:
        stream: Where to write.

    Attributes:
        can_redraw: Whether lines can be redrawn. ``ros2 launch`` gives its processes a terminal
            that nobody watches, and shows a line only when it is complete.
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
        """Draw a line over the previous one."""
        self._is_drawn = True
        write_out(self._stream, f"\r{text}")

    def leave(self) -> None:
        """Leave the drawn line as it is."""
        if self._is_drawn:
            self._is_drawn = False
            write_out(self._stream, "\n")


def _is_in_front(stream: TextIO) -> bool:
    """Return whether a stream is this process's terminal, with the process in its foreground."""
    if not stream.isatty():
        return False
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:
        # A pseudo-terminal that is not the controlling terminal of this process.
        return False


class ProgressBar:
    """A bar that fills up; on an unwatched terminal, a line for each tenth.

    Args:
        terminal: Where to write.
        what: What progresses.
    """

    def __init__(self, terminal: Terminal, what: str) -> None:
        self._terminal = terminal
        self._what = what
        self._shown = -1.0

    def show(self, part: float, note: str = "") -> None:
        """Show the progress.

        Args:
            part: 0 to 1.
            note: A few words after the bar.
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
    """Lines that are redrawn together, repeatedly.

    Args:
        stream: A terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = ""

    def draw(self, text: str) -> None:
        """Draw lines over the previous ones."""
        if self._shown:
            # A terminal that has since become narrower has rewrapped them.
            rows = count_rows(self._shown, shutil.get_terminal_size().columns)
            # Go up to the first of them, and clear to the end of the screen.
            self._stream.write(f"\x1b[{rows}A\x1b[J")
        self._shown = text
        self._stream.write(f"{text}\n")
        self._stream.flush()


def count_rows(text: str, columns: int) -> int:
    """Count the terminal rows that lines take, some of which may be wider than the terminal."""
    return sum(max(1, -(-len(line) // columns)) for line in text.split("\n"))


def table(rows: list[tuple[str, str]]) -> str:
    """Format two columns of text."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)
