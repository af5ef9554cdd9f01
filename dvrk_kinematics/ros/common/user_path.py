"""Paths of files or folders as users write them in parameters or goals."""

from __future__ import annotations

import os
from pathlib import Path

from dvrk_kinematics.errors import InvalidInput, shorten

__all__ = ["user_path"]

_LONGEST_PART, _LONGEST = 255, 4095
"""Longest name and path on Linux, in bytes."""


def user_path(name: str, argument: str) -> Path:
    """Return a path with ``~`` and ``~user`` resolved.

    Args:
        name: The path as given.
        argument: Name of the parameter or field, for the error.

    Raises:
        InvalidInput: If there is no such user, or no file can have this name.
    """
    if "\0" in name or not name.isprintable():
        raise InvalidInput(argument, f"{shorten(name)!r} has signs that cannot be printed")
    try:
        path = Path(name).expanduser()
    except RuntimeError as error:
        raise InvalidInput(argument, f"{shorten(name)}: there is no such user") from error
    longest = max((len(os.fsencode(part)) for part in path.parts), default=0)
    if longest > _LONGEST_PART or len(os.fsencode(path)) > _LONGEST:
        allowed = f"allowed are {_LONGEST_PART} in a name and {_LONGEST} in all"
        raise InvalidInput(argument, f"{shorten(name)} is too long; {allowed}")
    return path
