"""Commands of other clients that the arm's own state does not show, or shows only later."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from dvrk_kinematics.driver import Finding, Reason
from dvrk_kinematics.ros.bridge.contract import FOREIGN_COMMANDS
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledGroup

__all__ = ["Heard", "OtherClients"]

_ECHO_S = 1.0
"""How long after sending a command we may receive it ourselves (s)."""
_SAME = 1e-9
"""Openings that differ by no more than this (rad) are the same."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Commands from other clients since the last look.

    Attributes:
        is_hold: Whether another client commanded a hold.
        arm: Finding that another client commands the arm; None if none does.
        jaw: Finding that another client commands the jaw; None if none does.
    """

    is_hold: bool = False
    arm: Finding | None = None
    jaw: Finding | None = None


_NOTHING = Heard()


class OtherClients:
    """Listens to other clients' commands to one arm; used by the control loop.

    Args:
        node: The node.
        arm: Name of the arm.
        has_jaw: Whether it has the topics of a jaw.
    """

    def __init__(self, node: Node, arm: str, has_jaw: bool) -> None:
        self._group = PolledGroup(node)
        for name, topic in FOREIGN_COMMANDS.items():
            if has_jaw or topic.only != "jaw":
                self._group.subscribe(*topic.of(arm), key=name)
        self._holds: deque[int] = deque()
        self._openings: deque[tuple[int, float]] = deque()

    def sent_hold(self, now_ns: int) -> None:
        """Remember a hold that we sent, since we will receive it ourselves."""
        self._holds.append(now_ns)

    def sent_opening(self, opening: float, now_ns: int) -> None:
        """Remember a jaw opening (rad) that we sent, since we will receive it ourselves."""
        self._openings.append((now_ns, opening))

    def take(self, now_ns: int) -> Heard:
        """Commands from other clients since the last look.

        Args:
            now_ns: Time now (monotonic).
        """
        self._forget(now_ns)
        arrived = self._group.take_all()
        if not arrived:
            return _NOTHING
        is_hold, arm, jaw = False, None, None
        for arrival in arrived:
            name, finding = arrival.key, Finding(Reason.FOREIGN_COMMAND, arrival.topic)
            if name == "hold":
                is_hold = is_hold or not self._is_own_hold()
            elif name == "jaw/servo_jp":
                jaw = jaw if self._is_own_opening(arrival.message) else finding
            elif name == "jaw/move_jp":
                jaw = arm = finding
            else:
                arm = finding
        return Heard(is_hold, arm, jaw)

    def close(self) -> None:
        """Drop the subscriptions."""
        self._group.close()

    def _forget(self, now_ns: int) -> None:
        oldest_ns = now_ns - round(_ECHO_S * 1e9)
        while self._holds and self._holds[0] < oldest_ns:
            self._holds.popleft()
        while self._openings and self._openings[0][0] < oldest_ns:
            self._openings.popleft()

    def _is_own_hold(self) -> bool:
        if not self._holds:
            return False
        self._holds.popleft()
        return True

    def _is_own_opening(self, message: Any) -> bool:
        positions = list(message.position)
        return len(positions) == 1 and any(
            abs(opening - positions[0]) <= _SAME for _, opening in self._openings
        )
