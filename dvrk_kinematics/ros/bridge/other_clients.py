"""What other clients tell the arm, where the arm's own state would not show it, or only later."""

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
"""How long after we sent it a command may come back to us."""
_SAME = 1e-9
"""Openings (rad) that differ by less are one."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What others have said since the last look.

    Attributes:
        is_hold: Whether somebody told the arm to hold.
        arm: That somebody commands the arm, None if nobody does.
        jaw: That somebody commands the jaw, None if nobody does.
    """

    is_hold: bool = False
    arm: Finding | None = None
    jaw: Finding | None = None


_NOTHING = Heard()


class OtherClients:
    """Hears the commands of others to one arm; used by the control loop.

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
        """Remember a hold of our own, which comes back."""
        self._holds.append(now_ns)

    def sent_opening(self, opening: float, now_ns: int) -> None:
        """Remember an opening of the jaw (rad) that we sent, which comes back."""
        self._openings.append((now_ns, opening))

    def take(self, now_ns: int) -> Heard:
        """What others have said since the last look.

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
        """Hear no more."""
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
