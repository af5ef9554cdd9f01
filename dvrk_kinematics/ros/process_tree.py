"""Which process has started which."""

from __future__ import annotations

from pathlib import Path

__all__ = ["descends_from"]


def descends_from(process: int, ancestor: int) -> bool:
    """Whether a process is another one, or was started by it or by what it started.

    Args:
        process: Id of the process.
        ancestor: Id of the other.
    """
    while process not in (0, ancestor):
        try:
            # What follows the name, which may hold anything: the state, then the parent's id.
            after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
        except OSError:
            return False
        process = int(after_name.split()[1])
    return process == ancestor
