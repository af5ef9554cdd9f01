"""Detects whether an action server is still alive, even after it was killed.

If the server is ours, the publisher of its action status promises a sign of life within every
``qos.LEASE_S``. The middleware keeps that promise, and monitors it for subscribers, as here.

Answers rclpy 7.1, whose ``server_is_ready`` asks the graph, from which a killed process vanishes
only after some 20 s. Needed while this passes:
``test_plain_rclpy.py::test_a_client_takes_a_server_that_was_killed_for_ready``.
"""

from __future__ import annotations

import time

from action_msgs.msg import GoalStatusArray
from rclpy.event_handler import QoSLivelinessChangedInfo, SubscriptionEventCallbacks
from rclpy.node import Node

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.patience import PATIENT, Patience, looking_at

__all__ = ["GONE_S", "ServerWatch"]

GONE_S = 5.0
"""How long a server may be silent before it counts as gone (s).

On a busy machine, a live server may be silent for seconds, and that must not abort a running
motion. An arm whose bridge was killed rests meanwhile.
"""


class ServerWatch:
    """Watches the server of one action; costs nothing while the server is alive.

    Args:
        node: The node, which must be spun.
        action: Name of the action.
    """

    def __init__(self, node: Node, action: str) -> None:
        self._action = action
        self._lost_s: float | None = None
        node.create_subscription(
            GoalStatusArray,
            f"{action}/_action/status",
            lambda _: None,
            qos.ACTION_STATUS_WATCH,
            event_callbacks=SubscriptionEventCallbacks(
                liveliness=self._hear,
                # A third-party server that promises nothing: the graph must do.
                incompatible_qos=lambda _: None,
            ),
        )

    def note_life(self) -> None:
        """Note a message from the server, such as feedback; callable from any thread.

        The middleware may miss a lease on a busy machine, and does not keep its promise between
        two nodes of one process; a server that sends messages is alive.
        """
        if self._lost_s is not None:
            self._lost_s = time.monotonic()

    @property
    def silent_s(self) -> float:
        """Return for how long the server is known to be gone (s); 0 while alive or unknown."""
        lost_s = self._lost_s
        return 0.0 if lost_s is None else time.monotonic() - lost_s

    def wait(self, timeout_s: float, patience: Patience = PATIENT) -> bool:
        """Wait for a server that is known to be gone.

        Requests sent meanwhile would go to the killed server, and get no answer.

        Args:
            timeout_s: Longest time to wait (s).
            patience: How to wait.

        Returns:
            Whether it is back, or was never known to be gone.
        """
        is_back = looking_at(lambda: self._lost_s is None)
        return patience.wait(is_back, f"{self._action} to come back", timeout_s)

    def _hear(self, info: QoSLivelinessChangedInfo) -> None:
        if info.alive_count > 0:
            self._lost_s = None
        elif self._lost_s is None:
            self._lost_s = time.monotonic()
