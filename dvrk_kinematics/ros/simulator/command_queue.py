"""Passes commands from the wire to simulated arms, in order of arrival.

``SimulatedArm.commands`` has the method behind every command topic; the message's content becomes
the arguments. The dVRK keeps one message of each topic and reads it every 0.1 ms, or later if its
machine is busy: of messages in one burst it executes only the newest, of messages that come one
after the other it executes each. This loop reads once a cycle, or later while the arms' thread
stalls. So it keeps more than one, and by their arrival times drops those that the dVRK would not
have seen. Servo streams, which a busy machine delivers in bursts, are all applied: the newest
wins, and no message of a relative stream is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from crtk_msgs.msg import CartesianImpedance, CartesianState, StringStamped
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Empty, Float64, Float64MultiArray, String

from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.common.qos import with_depth
from dvrk_kinematics.ros.crtk.contract import Topic
from dvrk_kinematics.ros.rclpy_ext.dropped_messages import dropped_by
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import Arrival, PolledGroup

__all__ = ["ARM_READERS", "CommandQueue", "newest_of_bursts", "pose_or_none"]

Reader: TypeAlias = Callable[[Any], tuple[Any, ...]]

_DEPTH = 50
"""Queue depth of a topic: 30 ms at 1.5 kHz."""

_BURST_NS = 1_000_000
"""Messages of a topic with shorter gaps than this form one burst: with the recorded software, of
three words sent back to back only the last took effect."""


class CommandQueue:
    """All commands of a process, taken together and executed in order of arrival.

    Args:
        node: The node.
    """

    def __init__(self, node: Node) -> None:
        self._group = PolledGroup(node)
        self._dropped = dropped_by(node)

    def listen(
        self,
        topics: Iterable[Topic],
        namespace: str,
        commands: Mapping[str, Callable[..., None]],
        readers: Mapping[str, Reader],
    ) -> None:
        """Subscribe to topics.

        Args:
            topics: Topics of the contract.
            namespace: Where their names begin.
            commands: What each topic does, by its name.
            readers: By topic, how to read messages whose type alone does not define that.
        """
        for topic in topics:
            kind = topic.message
            command = _Command(
                readers.get(topic.name) or _READERS[kind],
                commands[topic.name],
                topic.name.rpartition("/")[2].startswith("servo_"),
            )
            qos = with_depth(topic.qos, _DEPTH)
            self._group.subscribe(kind, namespace + topic.name, qos, command)

    def act(self) -> None:
        """Execute all commands that have arrived; of a burst, only the newest."""
        for _, message, topic, command in newest_of_bursts(self._group.take_all()):
            try:
                command.act(*command.read(message))
            except Exception as error:
                self._dropped.note_failure(topic, error)

    def close(self) -> None:
        """Stop receiving."""
        self._group.close()


class _Command(NamedTuple):
    """One command: how to read its messages, what they do, and whether they form a stream."""

    read: Reader
    act: Callable[..., None]
    is_stream: bool


def newest_of_bursts(arrived: Sequence[Arrival]) -> list[Arrival]:
    """Return what a reader that keeps one message of each topic would see.

    Args:
        arrived: Messages, oldest first; their keys are commands, one for each topic.

    Returns:
        Messages of a stream, and messages that no other of their topic followed within a
        millisecond, oldest first.
    """
    followed_at: dict[int, int] = {}
    seen = []
    for arrival in reversed(arrived):
        next_ns = followed_at.get(id(arrival.key))
        is_last = next_ns is None or next_ns - arrival.received_ns >= _BURST_NS
        if is_last or arrival.key.is_stream:
            seen.append(arrival)
        followed_at[id(arrival.key)] = arrival.received_ns
    return seen[::-1]


def pose_or_none(pose: Any) -> Array | None:
    """Convert a Pose to a matrix (4, 4), normalising its quaternion; None if impossible.

    NaN in the position is kept: the arm handles it.
    """
    p, q = pose.position, pose.orientation
    quaternion = np.array([q.x, q.y, q.z, q.w])
    length = float(np.sqrt(quaternion @ quaternion))
    if not _SHORTEST <= length < np.inf:
        return None
    T = np.eye(4)
    T[:3, :3] = so3.from_quaternion(quaternion / length)
    T[:3, 3] = p.x, p.y, p.z
    return T


_SHORTEST = 1e-9
"""Quaternions shorter than this have no direction."""


def _six(first: Any, second: Any) -> Array:
    return np.array([first.x, first.y, first.z, second.x, second.y, second.z])


def _servo_jp(message: Any) -> tuple[Any, ...]:
    return message.position.tolist(), message.velocity.tolist()


def _effort(message: Any) -> tuple[Any, ...]:
    return (message.effort.tolist(),)


def _cartesian_state(message: Any) -> tuple[Any, ...]:
    twist, wrench = message.twist, message.wrench
    return (
        pose_or_none(message.pose) if message.pose_is_valid.data else None,
        _six(twist.linear, twist.angular) if message.twist_is_valid.data else None,
        _six(wrench.force, wrench.torque) if message.wrench_is_valid.data else None,
    )


_READERS: dict[Any, Reader] = {
    StringStamped: lambda message: (message.string,),
    String: lambda message: (message.data,),
    Bool: lambda message: (message.data,),
    Float64: lambda message: (message.data,),
    Float64MultiArray: lambda message: (message.data.tolist(),),
    Empty: lambda message: (),
    JointState: lambda message: (message.position.tolist(),),
    PoseStamped: lambda message: (pose_or_none(message.pose),),
    WrenchStamped: lambda message: (_six(message.wrench.force, message.wrench.torque),),
    CartesianState: _cartesian_state,
    CartesianImpedance: lambda message: (),
}
"""How to read the arguments, by message type."""

ARM_READERS: Mapping[str, Reader] = {
    "servo_jp": _servo_jp,
    "servo_jf": _effort,
    "jaw/servo_jf": _effort,
    "set_base_frame": lambda message: (pose_or_none(message.pose), message.header.frame_id),
}
"""The same for an arm's commands whose message type alone does not define it."""
