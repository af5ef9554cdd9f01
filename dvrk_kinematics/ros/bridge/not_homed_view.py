"""Shows an arm that has no valid joints yet at its neutral posture, with a text beside it.

Before homing, an arm's joints are unknown, and RViz would show its links as a heap with an error.
So every link gets a transform with the stamp 0: to a dVRK this means invalid, and to tf2 it means
valid at any time until newer data arrives. joint_states stays silent, and this project's nodes
never use these transforms for a frame lookup.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from visualization_msgs.msg import Marker

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.schema import JointKind, JointModel
from dvrk_kinematics.ros.bridge.contract import NOT_HOMED
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.bridge.state_output import StateOutput

__all__ = ["NotHomedView", "neutral_posture"]

_LOOK_S = 0.25
"""How often we check for new subscribers to tf (s)."""
_BEGIN_S = 1.0
"""An arm with valid states within this time (s) needs no text."""
_TEXT_M = 0.03
"""Height of the letters (m)."""
_ABOVE_M = 0.08
"""Height of the text above the arm's base (m)."""
_GREY, _OPAQUE = 0.45, 1.0


def neutral_posture(joints: Sequence[JointModel]) -> Array:
    """The displayed posture of an arm in an unknown state: slides half out, the rest at zero.

    Args:
        joints: The joints.

    Returns:
        Positions (rad, m) inside the limits, shape (n,).
    """
    at = [
        0.5 * (joint.lower + joint.upper)
        if joint.kind is JointKind.PRISMATIC
        else min(max(0.0, joint.lower), joint.upper)
        for joint in joints
    ]
    return frozen(np.array(at))


class NotHomedView:
    """The view of one arm, until its first valid state; used by the control loop.

    Args:
        node: The node.
        settings: Name of the arm.
        output: Publishes tf of the arm's links.
        q: The neutral posture of all joints (rad, m), shape (n,).
    """

    def __init__(
        self, node: Node, settings: BridgeSettings, output: StateOutput, q: Array
    ) -> None:
        self._arm = settings.arm
        self._base = settings.base_frame
        self._output = output
        self._q = q
        self._publisher = node.create_publisher(*NOT_HOMED.of(settings.arm))
        self._looked_ns = time.monotonic_ns() + round((_BEGIN_S - _LOOK_S) * 1e9)
        self._listeners = 0
        self._said = ""

    def show(self, is_heard: bool, now_ns: int) -> None:
        """Show the arm; call this in every tick.

        Args:
            is_heard: Whether any state of the arm has arrived.
            now_ns: Time now (monotonic).
        """
        if (now_ns - self._looked_ns) * 1e-9 < _LOOK_S:
            return
        self._looked_ns = now_ns
        self._say(f"{self._arm}: not homed" if is_heard else f"{self._arm}: not found yet")
        before, self._listeners = self._listeners, self._output.count_frame_listeners()
        if self._listeners > before:
            # Once per new subscriber: tf2 warns of repeated data.
            self._output.publish_invalid(self._q)

    def end(self) -> None:
        """Remove the text: from now on the arm's own states show it."""
        if self._said:
            self._said = ""
            self._publisher.publish(self._make(Marker.DELETE))

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._publisher.publish(self._make(Marker.ADD))

    def _make(self, action: int) -> Marker:
        marker = Marker(ns="state", id=0, type=Marker.TEXT_VIEW_FACING, action=action)
        marker.header.frame_id = self._base
        marker.pose.position.z = _ABOVE_M
        marker.pose.orientation.w = 1.0
        marker.scale.z = _TEXT_M
        marker.color.r = marker.color.g = marker.color.b = _GREY
        marker.color.a = _OPAQUE
        # It moves with its frame.
        marker.frame_locked = True
        marker.text = self._said
        return marker
