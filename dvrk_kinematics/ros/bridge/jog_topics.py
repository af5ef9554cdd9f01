"""Reads jog commands: a twist of the tip in any frame, or joint velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node

from dvrk_kinematics.driver.jog.jog_command import JogCommand, JogSpace
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.errors import FrameError
from dvrk_kinematics.ros.bridge.contract import JOG, JOG_JOINTS
from dvrk_kinematics.ros.bridge.crtk_port import MAX_BYTES
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.common.frame_listener import FrameListener
from dvrk_kinematics.ros.common.joint_language import CONTROLLER, JointLanguage
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["JogTopics"]

TOOL = "tool"
"""frame_id of a twist along the axes of the tip, besides the tip link's own name."""


class JogTopics:
    """The topics ``jog`` and ``jog_joints`` of one arm, read by the control loop.

    Args:
        node: The node.
        settings: Name of the arm, prefixes, maximum age of a frame.
        language: The clients' names and signs of the arm's joints.
        controller: The same for clients that choose the controller's language.
        tip: Name of the tip's link on tf.
    """

    def __init__(
        self,
        node: Node,
        settings: BridgeSettings,
        language: JointLanguage,
        controller: JointLanguage,
        tip: str,
    ) -> None:
        self._language, self._controller = language, controller
        self._frame_age_s = settings.frame_age
        self._base = settings.base_frame
        self._spaces = {
            "": JogSpace.BASE,
            self._base: JogSpace.BASE,
            f"{settings.link_prefix}base": JogSpace.BASE,
            TOOL: JogSpace.TOOL,
            tip: JogSpace.TOOL,
        }
        self._twists: PolledSubscription[Any] = PolledSubscription(
            node, *JOG.of(settings.arm), MAX_BYTES
        )
        self._jogs: PolledSubscription[Any] = PolledSubscription(
            node, *JOG_JOINTS.of(settings.arm), MAX_BYTES
        )
        # Made here, so that no tick has to create it when a command names a foreign frame.
        self._frames = FrameListener(node, is_for_loop=True)

    def adopt(self, settings: BridgeSettings) -> None:
        """Take parameters that changed at rest."""
        self._frame_age_s = settings.frame_age

    def take(self) -> JogCommand | Finding | None:
        """The newest command, or why it is invalid; None if none has arrived."""
        joints = self._jogs.take_newest_message()
        if joints is not None:
            return self._read_joints(joints)
        twist = self._twists.take_newest_message()
        return None if twist is None else self._read_twist(twist)

    def _read_twist(self, message: Any) -> JogCommand | Finding:
        v, w = message.twist.linear, message.twist.angular
        linear, angular = np.array([v.x, v.y, v.z]), np.array([w.x, w.y, w.z])
        frame = message.header.frame_id.lstrip("/")
        space = self._spaces.get(frame)
        if space is not None:
            return JogCommand.tip(linear, angular, space)
        try:
            R = self._frames.lookup(self._base, frame, self._frame_age_s)[:3, :3]
        except FrameError as error:
            return Finding(Reason.UNKNOWN_FRAME, str(error))
        return JogCommand.tip(R @ linear, R @ angular, JogSpace.BASE)

    def _read_joints(self, message: Any) -> JogCommand | Finding:
        names, velocities = list(message.joint_names), list(message.velocities)
        if message.displacements:
            return Finding(Reason.WRONG_SHAPE, "displacements are not offered, only velocities")
        if len(names) != len(velocities) or len(set(names)) != len(names):
            return Finding(
                Reason.WRONG_SHAPE, f"{len(velocities)} velocities for the joints {names}"
            )
        is_controllers = any(name.startswith(CONTROLLER) for name in names)
        language = self._controller if is_controllers else self._language
        strange = [name for name in names if name not in language.names]
        if strange:
            return Finding(
                Reason.WRONG_SHAPE, f"{strange} are no joints; valid: {list(language.names)}"
            )
        given = dict(zip(names, velocities, strict=True))
        wanted = np.array([given.get(name, 0.0) for name in language.names])
        return JogCommand(JogSpace.JOINTS, wanted * language.signs)
