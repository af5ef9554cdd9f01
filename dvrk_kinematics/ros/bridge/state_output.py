"""Publishes an arm's state: joint_states, tf, tf_static, robot_description."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.link_transforms import FixedTransform, LinkTransforms
from dvrk_kinematics.ros.bridge.contract import JOINT_STATES, ROBOT_DESCRIPTION, TF, TF_STATIC
from dvrk_kinematics.ros.bridge.description import Description
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.common.conversions import make_joint_state, matrix_to_transform
from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage, RawPublisher

__all__ = ["StateOutput"]


class StateOutput:
    """Publishes the state of one arm under the names of its URDF.

    Args:
        node: The node.
        settings: What to publish.
        description: The published description of the arm.
        joints: The joints of the vectors given to :meth:`publish`, in order.
    """

    def __init__(
        self,
        node: Node,
        settings: BridgeSettings,
        description: Description,
        joints: Sequence[str],
    ) -> None:
        self._joint_states = (
            _JointStates(node, settings, description, joints)
            if settings.publish_joint_states
            else None
        )
        self._transforms = None
        self.frames: list[tuple[str, ...]] = []
        """The frames of each of our messages on tf and tf_static."""
        if settings.publish_tf:
            links = LinkTransforms(description.links, joints)
            self._transforms = _Transforms(node, settings, links)
            join = [] if description.join is None else [description.join]
            fixed = [*links.fixed, *join]
            _publish_fixed(node, settings, fixed)
            self.frames = [
                tuple(child for _, child in links.moving),
                tuple(transform.child for transform in fixed),
            ]
        self._waiting: Callable[[], None] | None = None
        if settings.publish_description and description.text:
            latched = node.create_publisher(*ROBOT_DESCRIPTION.of(settings.arm))
            self._waiting = lambda: latched.publish(String(data=description.text))
            if not settings.description_waits:
                self._describe()

    def publish(self, q: Array, qd: Array | None, stamp_ns: int) -> None:
        """Publish one state.

        Args:
            q: Positions (rad, m), shape (n,).
            qd: Velocities, shape (n,); None if the arm reports none.
            stamp_ns: The arm's stamp (ns).
        """
        if self._joint_states is not None:
            self._joint_states.publish(q, qd, stamp_ns)
        if self._transforms is not None:
            self._transforms.publish(q, stamp_ns)
        if self._waiting is not None:
            self._describe()

    def _describe(self) -> None:
        """Publish the description, once."""
        if self._waiting is not None:
            self._waiting()
            self._waiting = None

    def count_frame_listeners(self) -> int:
        """Number of subscribers to tf; 0 if we do not publish it."""
        return 0 if self._transforms is None else self._transforms.publisher.count_listeners()

    def publish_invalid(self, q: Array) -> None:
        """Publish only tf, for a posture that was not measured.

        Args:
            q: Positions (rad, m), shape (n,).
        """
        if self._transforms is not None:
            self._transforms.publish_invalid(q)

    def close(self) -> None:
        """Publish nothing more."""
        for part in (self._joint_states, self._transforms):
            if part is not None:
                part.publisher.close()


class _JointStates:
    """joint_states with every movable joint of the URDF, including mimics."""

    def __init__(
        self,
        node: Node,
        settings: BridgeSettings,
        description: Description,
        joints: Sequence[str],
    ) -> None:
        shown = {
            name: mimic
            for name, mimic in description.movable.items()
            if not settings.actuated_only or _is_actuated(name, mimic.joint, settings)
        }
        self._columns = np.array([joints.index(m.joint) for m in shown.values()], dtype=np.intp)
        self._factors = np.array([mimic.multiplier for mimic in shown.values()])
        self._offsets = np.array([mimic.offset for mimic in shown.values()])
        zeros = np.zeros(len(shown))
        self._with_velocity = PatchedMessage(
            make_joint_state(list(shown), zeros, zeros), ["position", "velocity"]
        )
        self._without = PatchedMessage(make_joint_state(list(shown), zeros), ["position"])
        self.publisher = RawPublisher(node, *JOINT_STATES.of(settings.arm))

    def publish(self, q: Array, qd: Array | None, stamp_ns: int) -> None:
        message = self._without if qd is None else self._with_velocity
        message["position"] = q.take(self._columns) * self._factors + self._offsets
        if qd is not None:
            message["velocity"] = qd.take(self._columns) * self._factors
        self.publisher.publish(message.stamped(stamp_ns))


def _is_actuated(name: str, follows: str, settings: BridgeSettings) -> bool:
    return name == f"{settings.joint_prefix}{follows}"


class _Transforms:
    """tf of every link that moves relative to its parent, in one message."""

    def __init__(self, node: Node, settings: BridgeSettings, links: LinkTransforms) -> None:
        self._links = links
        message = TFMessage(
            transforms=[_transform(parent, child) for parent, child in links.moving]
        )
        self._message = PatchedMessage(message, ["transforms[].transform"])
        # Slightly less than the period, so that states at exactly that rate are all sent.
        self._every_ns = round(0.9e9 / settings.tf_rate) if settings.tf_rate else 0
        self._sent_ns: int | None = None
        self.publisher = RawPublisher(node, *TF.of(settings.arm))

    def publish(self, q: Array, stamp_ns: int) -> None:
        last = self._sent_ns
        if last is not None and 0 <= stamp_ns - last < self._every_ns:
            return
        self._sent_ns = stamp_ns
        self._send(q, stamp_ns)

    def publish_invalid(self, q: Array) -> None:
        """Publish an unmeasured posture with the stamp 0."""
        self._send(q, 0)

    def _send(self, q: Array, stamp_ns: int) -> None:
        self._message["transforms[].transform"] = self._links.numbers(q)
        self.publisher.publish(self._message.stamped(stamp_ns))


def _transform(parent: str, child: str) -> TransformStamped:
    stamped = TransformStamped(child_frame_id=child)
    stamped.header.frame_id = parent
    return stamped


def _publish_fixed(
    node: Node, settings: BridgeSettings, transforms: Sequence[FixedTransform]
) -> None:
    """Latch the fixed transforms and the join of the tree to the dVRK's."""
    message = TFMessage()
    for fixed in transforms:
        stamped = _transform(fixed.parent, fixed.child)
        stamped.transform = matrix_to_transform(fixed.T_parent_child)
        write_stamp(stamped.header.stamp, node.get_clock().now().nanoseconds)
        message.transforms.append(stamped)
    if message.transforms:
        node.create_publisher(*TF_STATIC.of(settings.arm)).publish(message)
