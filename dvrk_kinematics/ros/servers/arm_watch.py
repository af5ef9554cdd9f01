"""What a planner needs to know about an arm: its setpoint and its measured states."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.errors import ArmNotReady, CallFailed
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.bridge.crtk_port import MAX_BYTES
from dvrk_kinematics.ros.common.patience import INNER_BOUND_S, Patience, looking_at
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription
from dvrk_kinematics.ros.servers.contract import MEASURED_JS, SETPOINT_JS

__all__ = ["ArmWatch"]

_States = PolledSubscription[JointState]

_DOUBT_S = 0.5
"""How long an arm must report invalid states before we believe it (s): messages sent during homing
may still be in transit.
"""


class ArmWatch:
    """Reads an arm's setpoint on request, and its states while it moves.

    An arm publishes its state hundreds of times a second, and receiving that costs time even if
    nobody reads it. So the topics are only subscribed from first use until :meth:`rest`.

    Args:
        node: The node.
        arm: Name of the arm.
        joints: Its joints.
    """

    def __init__(self, node: Node, arm: str, joints: Sequence[str]) -> None:
        self._node = node
        self._arm = arm
        self._joints = tuple(joints)
        self._heard: tuple[_States, _States] | None = None
        self._reader = RawReader(JointState, ["position", "velocity", "effort"])
        self._stamps_ns: list[int] = []
        self._rows: list[Array] = []
        self._rest: int | None = None

    def read_setpoint(self, patience: Patience, timeout_s: float = INNER_BOUND_S) -> Array:
        """The joints' setpoint (rad, m), shape (n,), from the next message to arrive.

        Waits for an arm that is still being discovered.

        Args:
            patience: How to wait.
            timeout_s: How long to wait (s).

        Raises:
            ArmNotReady: The arm is there, but not homed, or not the arm of the model.
            CallFailed: Nothing valid arrives.
        """
        topic = SETPOINT_JS.name_of(self._arm)
        setpoint, _ = self._listen()
        setpoint.take_newest()
        found: list[Array] = []
        doubted_s: list[float] = []

        def has_come() -> bool:
            while (message := setpoint.take_raw(self._reader)) is not None:
                problem = self._find_problem(message)
                if not problem:
                    found.append(np.array(message["position"]))
                    return True
                doubted_s.append(time.monotonic())
                if doubted_s[-1] - doubted_s[0] > _DOUBT_S:
                    raise ArmNotReady(self._arm, problem)
            return False

        if not patience.wait(looking_at(has_come), topic, timeout_s):
            raise CallFailed(topic, timeout_s, "nothing valid arrived", "is the arm there?")
        return found[0]

    def _find_problem(self, message: Any) -> str:
        """Why a motion cannot begin at a setpoint; empty if it can."""
        names, position = tuple(message.template.name), message["position"]
        if message.stamp_ns == 0 or not np.isfinite(position).all():
            bridge = f"bridge/{self._arm}"
            return f"the arm is not homed: call {bridge}/enable, then {bridge}/home"
        if names != self._joints or len(position) != len(self._joints):
            reported, expected = ", ".join(names), ", ".join(self._joints)
            return f"the arm reports the joints {reported}; its model has {expected}"
        return ""

    def begin(self) -> None:
        """Discard the states so far, and keep those that arrive from now on."""
        self._listen()[1].take_newest()
        self._stamps_ns.clear()
        self._rows.clear()
        self._rest = None

    def poll(self, keep: bool = True) -> tuple[int, Array] | None:
        """Take in new states, and return the stamp of the newest (ns) and its positions.

        Args:
            keep: Whether to keep all of them. If not, only the newest is kept: an arm may rest
                for hours.

        Returns:
            The newest stamp and positions; None before the first state.
        """
        first = len(self._rows) if self._rest is None else self._rest
        _, measured = self._listen()
        while (message := measured.take_raw(self._reader)) is not None:
            position = message["position"]
            is_whole = len(position) == len(self._joints) and np.isfinite(position).all()
            if is_whole and message.stamp_ns != 0:
                self._stamps_ns.append(message.stamp_ns)
                self._rows.append(position)
        self._rest = None if keep else first
        if not keep:
            del self._stamps_ns[first:-1], self._rows[first:-1]
        return (self._stamps_ns[-1], self._rows[-1]) if self._rows else None

    def rest(self) -> None:
        """Drop the subscriptions until they are needed again."""
        if self._heard is None:
            return
        closed, self._heard = self._heard, None
        executor = self._node.executor
        for states in closed:
            # None may disappear while an executor iterates over a node's subscriptions.
            if executor is None:
                states.close()
            else:
                executor.create_task(states.close)

    def _listen(self) -> tuple[_States, _States]:
        """The topics of setpoints and of measured states."""
        if self._heard is None:
            self._heard = (
                _States(self._node, *SETPOINT_JS.of(self._arm), MAX_BYTES),
                _States(self._node, *MEASURED_JS.of(self._arm), MAX_BYTES),
            )
        return self._heard

    def history(self, begin_ns: int) -> tuple[Array, Array]:
        """Times since a stamp (s), shape (N,), and measured positions (rad, m), shape (N, n)."""
        if not self._rows:
            return np.empty(0), np.empty((0, len(self._joints)))
        times = [(stamp_ns - begin_ns) * 1e-9 for stamp_ns in self._stamps_ns]
        return np.array(times), np.stack(self._rows)
