"""Timers that a jump of the wall clock, or a simulated time that stands still, cannot stop.

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
    """Call back again and again, by the machine's monotonic clock.

    A node's own timers run on its ROS time. If that goes back by an hour they are silent for an
    hour, and with use_sim_time they are silent until somebody publishes /clock.

    Args:
        node: The node, which must be spun.
        period_s: Time between two calls (s).
        callback: What to call, in the executor's thread; may be a coroutine function.
    """
    return node.create_timer(period_s, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
