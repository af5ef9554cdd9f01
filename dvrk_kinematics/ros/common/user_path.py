"""A file or folder as a user names it, in a parameter or a goal."""

from __future__ import annotations

import os
from pathlib import Path

from dvrk_kinematics.errors import InvalidInput, shorten

__all__ = ["user_path"]

_LONGEST_PART, _LONGEST = 255, 4095
"""Bytes that a name and a path may have on Linux."""


def user_path(name: str, argument: str) -> Path:
    """A path, with ``~`` and ``~user`` resolved.

    Args:
        name: The path as it was given.
        argument: What was given, for the error.

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
