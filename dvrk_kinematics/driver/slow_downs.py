"""How often lateness slowed a motion, in the words of its result, and back from them."""

from __future__ import annotations

import re

__all__ = ["describe_slow_downs", "read_slow_downs"]


def describe_slow_downs(count: int) -> str:
    """Say how often a motion was slowed down, at least once."""
    return f"slowed down {'once' if count == 1 else f'{count} times'}"


def read_slow_downs(text: str) -> int:
    """Read from the text of a result how often the motion was slowed down.

    The standard result of FollowJointTrajectory has no field for it.
    """
    found = re.search(r"slowed down (?:(once)|(\d+) times)", text)
    if found is None:
        return 0
    return 1 if found[1] else int(found[2])
