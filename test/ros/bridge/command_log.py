"""Everything that a bridge says to its arm, and what must hold of all of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from crtk_msgs.msg import StringStamped
from listening import listener_of
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty

from dvrk_kinematics import Arm
from dvrk_kinematics.models.pid_tolerance import joint_pid_tolerance
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

PERIOD_S = 0.005
SLACK = 1e-3
"""What a step (rad, m) may be more than its time at full speed, or two periods of it."""

PID_PART = 0.5
"""Part of the PID's tolerance that no step comes near."""

_LATEST_S = 1.0
"""A tick is not later than this (s) in a motion; a clock that jumps is."""

_REST_S = 20.0 * PERIOD_S
_SETTLE_S = 40.0

_TYPES = {
    "servo_jp": JointState,
    "jaw/servo_jp": JointState,
    "hold": Empty,
    "state_command": StringStamped,
}


class Command(NamedTuple):
    """One message to the arm: when it was heard (s, monotonic), its number, and itself."""

    heard_s: float
    number: int
    data: bytes


class CommandLog:
    """Hears all command topics of one arm that a bridge publishes.

    They are taken without an executor, so that none waits behind what else the node hears.
    Messages of JointState topics that carry no names are another client's: the bridge names its
    joints.

    The answer to a call and the result of a goal can overtake what was sent to the arm before
    them. So whatever is asked here waits first until nothing new comes; only ``count`` and
    ``newest`` tell what is heard at this moment, also while a motion is under way.

    Args:
        node: A spinning node.
        start: Where the names of the arm's topics begin.
        arm: The arm's kinematics.
        on_heard: Called after every message.
    """

    def __init__(self, node: Node, start: str, arm: Arm, on_heard: Callable[[], None]) -> None:
        self._node = node
        self._start = start
        self._arm = arm
        self._on_heard = on_heard
        self._lock = threading.Lock()
        self._heard: dict[str, list[Command]] = {name: [] for name in _TYPES}
        self._checked = 0
        for name, kind in _TYPES.items():
            queue = QoSProfile(depth=1000)
            listener_of(node).subscribe(kind, start + name, queue, partial(self._keep, name))

    @property
    def is_connected(self) -> bool:
        """Whether somebody publishes every topic that the arm has."""
        names = [name for name in _TYPES if self._arm.jaw or not name.startswith("jaw/")]
        return all(self._node.count_publishers(self._start + name) > 0 for name in names)

    def count(self, name: str = "servo_jp") -> int:
        """How many messages were heard on a topic by now."""
        return len(self._heard[name])

    def newest(self) -> np.ndarray:
        """The setpoint that was heard last (rad, m), shape (n,)."""
        with self._lock:
            last = self._heard["servo_jp"][-1]
        return np.array(deserialize_message(last.data, JointState).position)

    def quiet_s(self, name: str = "servo_jp") -> float:
        """How long nothing was heard on a topic (s); infinite if nothing ever was."""
        with self._lock:
            last = self._heard[name][-1].heard_s if self._heard[name] else -np.inf
        return float(time.monotonic() - last)

    def settle(self) -> None:
        """Wait until what was sent is heard: nothing new comes for twenty periods."""
        deadline = time.monotonic() + _SETTLE_S
        before = -1
        while (count := sum(map(len, self._heard.values()))) != before:
            assert time.monotonic() < deadline, "the arm is commanded all the time"
            before = count
            time.sleep(_REST_S)

    def mark(self, name: str = "servo_jp") -> int:
        """How many messages were sent on a topic so far."""
        self.settle()
        return self.count(name)

    @contextmanager
    def silence(self, *names: str) -> Iterator[None]:
        """Check that nothing is sent during a with-block, on these topics or on all."""
        chosen = names or tuple(_TYPES)
        self.settle()
        before = {name: self.count(name) for name in chosen}
        yield
        self.settle()
        assert {name: self.count(name) for name in chosen} == before

    def is_silent(self) -> bool:
        """Whether nothing at all was sent."""
        self.settle()
        return not any(self._heard.values())

    def words(self) -> list[str]:
        """The state commands, in their order."""
        self.settle()
        return [message.string for _, message in self._read("state_command", 0)]

    def setpoints(self, since: int = 0) -> np.ndarray:
        """Setpoints (rad, m) in their order, shape (N, n).

        Args:
            since: Count of servo_jp messages before the first one to give.
        """
        self.settle()
        q = [m.position for _, m in self._read("servo_jp", since) if m.name]
        return np.array(q).reshape(-1, len(self._arm.joint_names))

    def gaps(self, since: int = 0) -> np.ndarray:
        """How many setpoints were sent from each that was heard to the next, shape (N - 1,).

        That is 1, unless messages were lost on their way to us.

        Args:
            since: Count of servo_jp messages before the first one to look at.
        """
        self.settle()
        return _gaps([c for c, m in self._read("servo_jp", since) if m.name])

    def jaw_setpoints(self, since: int = 0) -> np.ndarray:
        """Openings (rad) that were sent to the jaw, shape (N,)."""
        self.settle()
        heard = [message for _, message in self._read("jaw/servo_jp", since)]
        assert all(list(message.velocity) == [0.0] for message in heard)
        return np.array([message.position[0] for message in heard])

    def jaw_stamps_ns(self, since: int = 0) -> np.ndarray:
        """When the bridge sent openings to the jaw (ns, its ROS time), shape (N,).

        Args:
            since: Count of jaw/servo_jp messages before the first one to look at.
        """
        self.settle()
        heard = self._read("jaw/servo_jp", since)
        return np.array([stamp_to_ns(m.header.stamp) for _, m in heard], dtype=np.int64)

    def stamps_ns(self, since: int = 0) -> np.ndarray:
        """When the bridge sent its setpoints (ns, its ROS time), shape (N,).

        Args:
            since: Count of servo_jp messages before the first one to look at.
        """
        self.settle()
        stamps = [stamp_to_ns(m.header.stamp) for _, m in self._read("servo_jp", since) if m.name]
        return np.array(stamps, dtype=np.int64)

    def last_stamp_ns(self) -> int:
        """When the bridge sent its last setpoint (ns, its ROS time); 0 if it sent none."""
        self.settle()
        return int(self.stamps_ns(max(self.count() - 200, 0)).max(initial=0))

    def forgive(self) -> None:
        """Begin anew: somebody else has moved the arm, or it was homed, since the last command.

        What was wrong until now is told once, and not again by every test that follows.
        """
        try:
            self.check()
        finally:
            self._checked = self.count()

    def check(self) -> None:
        """Every setpoint inside the limits, no step too large, velocities explicitly zero."""
        self.settle()
        heard = [(c, m) for c, m in self._read("servo_jp", self._checked) if m.name]
        if not heard:
            return
        limits = make_motion_limits(self._arm)
        names = list(self._arm.joint_names)
        assert all(list(m.name) == names for _, m in heard)
        q = np.array([m.position for _, m in heard])
        assert np.isfinite(q).all()
        assert all(list(m.velocity) == [0.0] * len(names) for _, m in heard)
        assert (q >= limits.position.lower - 1e-9).all(), q.min(axis=0)
        assert (q <= limits.position.upper + 1e-9).all(), q.max(axis=0)
        # A message that was lost on the way to us makes the step to the next one longer, and so
        # does a tick that was late. A setpoint is that of a moment after the one before it was
        # sent, however long the loop was kept from sending it. Stamps may stand still or jump
        # with a simulated clock.
        stamps = np.array([stamp_to_ns(m.header.stamp) for _, m in heard]) * 1e-9
        elapsed = np.diff(stamps)
        elapsed = np.where(np.abs(elapsed) < _LATEST_S, np.maximum(elapsed, 0.0), 0.0)
        elapsed[1:] += elapsed[:-1].copy()
        step = np.abs(np.diff(q, axis=0)) / _gaps([c for c, _ in heard])[:, None]
        allowed_s = np.maximum(2.0 * PERIOD_S, elapsed)[:, None]
        assert (step <= allowed_s * limits.velocity + SLACK).all(), step.max(axis=0)
        assert (step <= PID_PART * joint_pid_tolerance(self._arm.model)).all(), step.max(axis=0)

    def _read(self, name: str, since: int) -> list[tuple[Command, Any]]:
        with self._lock:
            heard = self._heard[name][since:]
        return [(c, deserialize_message(c.data, _TYPES[name])) for c in heard]

    def _keep(self, name: str, data: bytes, info: Any) -> None:
        number = info["publication_sequence_number"]
        with self._lock:
            self._heard[name].append(Command(time.monotonic(), number, data))
        self._on_heard()


def _gaps(heard: list[Command]) -> np.ndarray:
    # A bridge that was started again begins with 1.
    return np.maximum(np.diff([command.number for command in heard]), 1)
