"""What a planner needs to know of an arm: where it was told to be, and where it went."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros import qos
from dvrk_kinematics.ros.bridge_port import MAX_BYTES
from dvrk_kinematics.ros.patched import RawReader
from dvrk_kinematics.ros.polled import PolledSubscription

__all__ = ["ArmWatch"]

_States = PolledSubscription[JointState]

_WAIT_S = 2.0
_POLL_S = 0.005


class ArmWatch:
    """Reads an arm's setpoint when asked, and its states while it moves.

    An arm says where it is hundreds of times a second, and to hear that costs even if nobody reads
    it. So the topics are subscribed when they are needed, and until :meth:`rest`.

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

    def read_setpoint(self, check: Callable[[], None] = lambda: None) -> Array:
        """Where the joints were told to be (rad, m), shape (n,); by a message yet to come.

        Args:
            check: Called again and again meanwhile; raises to end the waiting.

        Raises:
            CallFailed: Nothing valid arrives.
        """
        topic = f"{self._arm}/setpoint_js"
        setpoint, _ = self._listen()
        setpoint.take_newest()
        deadline = time.monotonic() + _WAIT_S
        reason = "nothing arrives; is the arm there?"
        while time.monotonic() < deadline:
            message = setpoint.take_raw(self._reader)
            if message is None:
                check()
                time.sleep(_POLL_S)
                continue
            names, position = tuple(message.template.name), np.array(message["position"])
            is_whole = names == self._joints and position.shape == (len(self._joints),)
            if is_whole and message.stamp_ns != 0 and np.isfinite(position).all():
                return position
            reason = (
                f"the arm reports no valid setpoint of {', '.join(self._joints)}; is it homed?"
            )
        raise CallFailed(topic, _WAIT_S, reason)

    def begin(self) -> None:
        """Forget what was heard, and keep what comes from now on."""
        self._listen()[1].take_newest()
        self._stamps_ns.clear()
        self._rows.clear()
        self._rest = None

    def poll(self, keep: bool = True) -> tuple[int, Array] | None:
        """Take in new states; gives the newest, with its stamp (ns), or None before the first.

        Args:
            keep: Whether to keep them all. While this is not so only the newest is kept: an arm
                may rest for hours.
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
        """Hear nothing until asked again."""
        if self._heard is None:
            return
        closed, self._heard = self._heard, None
        executor = self._node.executor
        for states in closed:
            # An executor that goes through a node's subscriptions must not find one gone.
            if executor is None:
                states.close()
            else:
                executor.create_task(states.close)

    def _listen(self) -> tuple[_States, _States]:
        """The topics of setpoints and of measured states."""
        if self._heard is None:
            arm, bound = self._arm, MAX_BYTES
            self._heard = (
                _States(self._node, JointState, f"{arm}/setpoint_js", qos.STATE_READER, bound),
                _States(self._node, JointState, f"{arm}/measured_js", qos.ARM_STATE, bound),
            )
        return self._heard

    def history(self) -> tuple[Array, Array]:
        """Stamps (s), shape (N,), and measured positions (rad, m), shape (N, n), since begin."""
        if not self._rows:
            return np.empty(0), np.empty((0, len(self._joints)))
        return np.array(self._stamps_ns, dtype=np.float64) * 1e-9, np.stack(self._rows)
