"""What the ROS graph shows, once it has settled: nodes find each other's ends one by one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from rclpy.node import NodeNameNonExistentError

TIMEOUT_S = 40.0

T = TypeVar("T")


def settled(look: Callable[[], T], wanted: T) -> T | None:
    """Look until what is wanted is there, and give what was seen last, to be compared.

    Args:
        look: Looks at the graph; a node that is not there yet may be asked for.
        wanted: What is expected.

    Returns:
        What was seen last; None if a node never appeared.
    """
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            found = look()
        except NodeNameNonExistentError:
            found = None
        if found == wanted or time.monotonic() > deadline:
            return found
        time.sleep(0.1)
