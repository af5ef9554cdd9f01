"""Three ways to get numbers in and out of ROS.

Ordinary messages; patched ones, with raw subscriptions; and the same with subscriptions that the
loop itself reads.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import make_joint_state, to_flat
from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage, RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["Edge", "JointReader", "JointWriter", "TransformWriter", "make_edge"]

JOINTS = ("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw")
LINKS = 20


class JointWriter(Protocol):
    """Publishes joint states."""

    def publish(self, position: Array, velocity: Array, ns: int) -> None:
        """Send one."""


class TransformWriter(Protocol):
    """Publishes the transforms of all links."""

    def publish(self, rows: Array, ns: int) -> None:
        """Send one message of (LINKS, 7) numbers."""


class JointReader(Protocol):
    """Keeps the latest joint state."""

    position: Array
    velocity: Array
    count: int

    def poll(self) -> None:
        """Take arrived messages, unless an executor does that."""


class Edge(Protocol):
    """Makes readers and writers of one kind."""

    def joint_writer(self, node: Node, topic: str) -> JointWriter:
        """Publisher of a JointState."""

    def transform_writer(self, node: Node, arm: str) -> TransformWriter:
        """Publisher of tf."""

    def joint_reader(self, node: Node, topic: str) -> JointReader:
        """Subscription to a JointState."""


def make_edge(name: str) -> Edge:
    """The edge with that name: ordinary, patched or polled."""
    edges: dict[str, Edge] = {"ordinary": _Ordinary(), "patched": _Patched(), "polled": _Polled()}
    return edges[name]


def _joint_state() -> JointState:
    zeros = np.zeros(len(JOINTS))
    message = make_joint_state(JOINTS, zeros, zeros)
    message.header.frame_id = "PSM1_base"
    return message


def _transforms(arm: str) -> TFMessage:
    message = TFMessage()
    for number in range(LINKS):
        stamped = TransformStamped(child_frame_id=f"{arm}_link_{number}")
        stamped.header.frame_id = f"{arm}_base"
        message.transforms.append(stamped)
    return message


class _Ordinary:
    """Messages as most nodes use them; the objects are reused."""

    def joint_writer(self, node: Node, topic: str) -> JointWriter:
        publisher = node.create_publisher(JointState, topic, qos.STATE)
        message = _joint_state()

        class Writer:
            def publish(self, position: Array, velocity: Array, ns: int) -> None:
                write_stamp(message.header.stamp, ns)
                message.position, message.velocity = to_flat(position), to_flat(velocity)
                publisher.publish(message)

        return Writer()

    def transform_writer(self, node: Node, arm: str) -> TransformWriter:
        publisher = node.create_publisher(TFMessage, "/tf", qos.TF)
        message = _transforms(arm)

        class Writer:
            def publish(self, rows: Array, ns: int) -> None:
                for stamped, row in zip(message.transforms, rows.tolist(), strict=True):
                    write_stamp(stamped.header.stamp, ns)
                    p, q = stamped.transform.translation, stamped.transform.rotation
                    p.x, p.y, p.z, q.x, q.y, q.z, q.w = row
                publisher.publish(message)

        return Writer()

    def joint_reader(self, node: Node, topic: str) -> JointReader:
        reader = _Latest()

        def hear(message: JointState) -> None:
            reader.position = np.array(message.position)
            reader.velocity = np.array(message.velocity)
            reader.count += 1

        node.create_subscription(JointState, topic, hear, qos.STATE_READER)
        return reader


class _Patched:
    """Messages serialised once and patched, and raw subscriptions."""

    def joint_writer(self, node: Node, topic: str) -> JointWriter:
        publisher = node.create_publisher(JointState, topic, qos.STATE)
        patched = PatchedMessage(_joint_state(), ["position", "velocity"])

        class Writer:
            def publish(self, position: Array, velocity: Array, ns: int) -> None:
                patched["position"], patched["velocity"] = position, velocity
                publisher.publish(patched.stamped(ns))

        return Writer()

    def transform_writer(self, node: Node, arm: str) -> TransformWriter:
        publisher = node.create_publisher(TFMessage, "/tf", qos.TF)
        patched = PatchedMessage(_transforms(arm), ["transforms[].transform"])

        class Writer:
            def publish(self, rows: Array, ns: int) -> None:
                patched["transforms[].transform"] = rows
                publisher.publish(patched.stamped(ns))

        return Writer()

    def joint_reader(self, node: Node, topic: str) -> JointReader:
        reader = _Latest()
        raw = RawReader(JointState, ["position", "velocity"])

        def hear(data: Any) -> None:
            read = raw.read(data)
            reader.position, reader.velocity = read["position"], read["velocity"]
            reader.count += 1

        node.create_subscription(JointState, topic, hear, qos.STATE_READER, raw=True)
        return reader


class _Polled(_Patched):
    """Messages serialised once and patched, and subscriptions read by the loop itself."""

    def joint_reader(self, node: Node, topic: str) -> JointReader:
        return _PolledLatest(node, topic)


class _Latest:
    """The latest joint state received."""

    def __init__(self) -> None:
        self.position = np.zeros(len(JOINTS))
        self.velocity = np.zeros(len(JOINTS))
        self.count = 0

    def poll(self) -> None:
        """The executor does it."""


class _PolledLatest(_Latest):
    """The latest joint state taken."""

    def __init__(self, node: Node, topic: str) -> None:
        super().__init__()
        self._subscription = PolledSubscription(node, JointState, topic, qos.STATE_READER)
        self._raw = RawReader(JointState, ["position", "velocity"])

    def poll(self) -> None:
        """Take the newest."""
        data = self._subscription.take_newest()
        if data is not None:
            read = self._raw.read(data)
            self.position, self.velocity = read["position"], read["velocity"]
            self.count += 1
