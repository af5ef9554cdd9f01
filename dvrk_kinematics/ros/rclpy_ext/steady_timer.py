"""Timers that neither a jump of the wall clock nor a stopped simulated time can stop.

Answers rclpy 7.1, whose timers run on ROS time by default. Needed while this passes:
``test_plain_rclpy.py::test_a_timer_on_a_simulated_time_that_nobody_publishes_stands_still``.
"""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.timer import Timer

__all__ = ["create_steady_timer"]


def create_steady_timer(node: Node, period_s: float, callback: Callable[[], object]) -> Timer:
    """Call back periodically, by the machine's monotonic clock.

    A node's own timers run on its ROS time. If that goes back by an hour, they are silent for an
    hour. With use_sim_time they are silent until somebody publishes /clock.

    Args:
        node: The node, which must be spun.
        period_s: Time between two calls (s).
        callback: Called in the executor's thread; may be a coroutine function.
    """
    return node.create_timer(period_s, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
