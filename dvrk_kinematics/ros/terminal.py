"""What a command shows in a terminal: a progress bar, or lines where there is no terminal."""

from __future__ import annotations

from typing import TextIO

__all__ = ["Progress", "table"]

_WIDTH = 40
_LINE_EVERY = 0.1


class Progress:
    """A bar that fills up; without a terminal a line for each tenth.

    Args:
        stream: Where to write.
        what: What progresses.
    """

    def __init__(self, stream: TextIO, what: str) -> None:
        self._stream = stream
        self._what = what
        self._is_terminal = stream.isatty()
        self._shown = -1.0

    def show(self, part: float, note: str = "") -> None:
        """Show how far it is.

        Args:
            part: 0 to 1.
            note: A few words behind the bar.
        """
        if self._is_terminal:
            done = round(_WIDTH * part)
            bar = "#" * done + "." * (_WIDTH - done)
            self._stream.write(f"\r{self._what} [{bar}] {100.0 * part:3.0f} %  {note}   ")
        elif part >= self._shown + _LINE_EVERY or (part >= 1.0 > self._shown):
            self._shown = part
            self._stream.write(f"{self._what} {100.0 * part:3.0f} %  {note}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._is_terminal:
            self._stream.write("\n")
            self._stream.flush()


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns of text."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)
