"""How often lateness slowed a motion down, in the words of a result: written and read here."""

from __future__ import annotations

import re

__all__ = ["describe_slow_downs", "read_slow_downs"]

_WORDS = re.compile(r"slowed down (\d+) times?\b")


def describe_slow_downs(count: int) -> str:
    """Say how often a motion was slowed down; empty if it was not."""
    if count <= 0:
        return ""
    return f"slowed down {count} time{'' if count == 1 else 's'}"


def read_slow_downs(error_string: str) -> int:
    """How often a motion was slowed down, by the ``error_string`` of its result."""
    found = _WORDS.search(error_string)
    return 0 if found is None else int(found[1])
