"""The node arm_bridge: between ROS 2 and one arm, real or simulated; the only one that moves it.

One loop in a separate thread reads the arm, plays goals and jogs through the guard, and publishes
joint_states and tf. The executor receives action goals and handles parameters.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from rclpy.node import Node

from dvrk_kinematics.driver import Finding, Reason
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.models.model_files import model_name, part_names
from dvrk_kinematics.ros.bridge.arm_drive import ArmDrive
from dvrk_kinematics.ros.bridge.contract import (
    HOLD,
    JAW_SERVO_JP,
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    SERVO_JP,
)
from dvrk_kinematics.ros.bridge.description import describe_arm
from dvrk_kinematics.ros.bridge.diagnostics import Diagnostics, OtherPublishers
from dvrk_kinematics.ros.bridge.frames_watch import FramesWatch
from dvrk_kinematics.ros.bridge.not_homed_view import NotHomedView, neutral_posture
from dvrk_kinematics.ros.bridge.reports import BridgeReports
from dvrk_kinematics.ros.bridge.settings import SIMULATED, BridgeSettings
from dvrk_kinematics.ros.bridge.setup_joint_bridge import SetupJointBridge
from dvrk_kinematics.ros.bridge.state_output import StateOutput
from dvrk_kinematics.ros.common.parameters import Parameters
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.sole_publisher import claim_frame, claim_topic, sole_topic
from dvrk_kinematics.ros.common.steady_loop import SteadyLoop, Tick
from dvrk_kinematics.ros.rclpy_ext.dropped_messages import dropped_by
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = ["ArmBridge", "BridgeNode", "main"]

_STOP_S = 2.0
"""How long a motion may take to come to rest when the process must end (s)."""

_WATCH_S = 0.5


class ArmBridge:
    """The bridge of one arm.

    Args:
        node: The node.
        settings: Its parameters.
    """

    def __init__(self, node: Node, settings: BridgeSettings) -> None:
        model = settings.model or model_name(settings.arm)
        arm = load_arm(model, settings.instrument or None, settings.generation)
        instrument = arm.model.instrument
        self._jaw = () if arm.jaw is None else (arm.jaw.name,)
        joints = (*arm.joint_names, *self._jaw)
        description = describe_arm(
            settings,
            arm.model.links,
            joints,
            arm.joint_names,
            "" if instrument is None else instrument.number or instrument.name,
            settings.base_frame,
            (*arm.model.joints, *(() if arm.jaw is None else (arm.jaw,))),
        )
        if description.excess:
            node.get_logger().warning(
                f"the description allows more than {settings.arm} does, and goals beyond that are "
                f"refused: {'; '.join(description.excess)}"
            )
        if settings.description and settings.publish_tf and description.join is not None:
            claim_frame(node, description.join.child, settings.description)
        self._names = arm.joint_names
        self._q, self._qd = np.zeros(len(joints)), np.zeros(len(joints))
        self._output = StateOutput(node, settings, description, joints)
        self._view: NotHomedView | None = None
        if settings.publish_tf:
            jaw = () if arm.jaw is None else (arm.jaw,)
            neutral = neutral_posture([*arm.model.joints, *jaw])
            self._view = NotHomedView(node, settings, self._output, neutral)
        tip = f"{settings.link_prefix}{arm.model.tip_link}"
        self.drive = ArmDrive(
            node,
            arm,
            settings,
            tip,
            description.movable,
            lambda: int(node.get_clock().now().nanoseconds),
        )
        self.loop = SteadyLoop(
            1.0 / settings.rate,
            self._tick,
            is_at_rest=lambda: self.drive.is_idle,
            on_error=self._fail,
            name="bridge",
        )
        if settings.publish_diagnostics:
            reports = BridgeReports(
                settings,
                self.drive,
                lambda: self.loop,
                OtherPublishers(node, _our_topics(settings, has_jaw=arm.jaw is not None)),
                FramesWatch(node, self._output.frames) if settings.publish_tf else None,
                dropped_by(node),
            )
            Diagnostics(node, settings.arm, reports)
        self._failed: BaseException | None = None
        self._is_ending = False
        create_steady_timer(node, _WATCH_S, self._watch)
        self.loop.start()
        then = f"nothing is sent before bridge/{settings.arm}/enable is called"
        if settings.bring_up:
            then = "it is enabled and homed as soon as it is there"
        node.get_logger().info(f"{settings.arm} as {arm}, {settings.hardware}; {then}")

    @property
    def is_at_rest(self) -> bool:
        """Whether none of our motions is active or waiting."""
        return self.drive.is_idle and not self.drive.has_waiting

    def adopt(self, settings: BridgeSettings) -> None:
        """Take parameters that were changed at rest."""
        self.drive.adopt(settings)

    def stop(self) -> None:
        """Bring any motion to rest along its path, then end."""
        self._is_ending = True
        deadline = time.monotonic() + _STOP_S
        while self.loop.is_running and time.monotonic() < deadline:
            if self.drive.is_idle and not self.drive.has_waiting:
                break
            time.sleep(0.01)
        self.loop.stop()
        self.drive.close()
        self._output.close()

    def _tick(self, tick: Tick) -> None:
        has_news = self.drive.port.poll(tick.now_ns)
        if self._is_ending:
            self.drive.drop_arriving()
            self.drive.stop(Finding(Reason.HOLD_REQUESTED, "the bridge ends"))
        self.drive.tick(tick.now_ns)
        if has_news:
            self._publish()
        if self._view is not None:
            self._view.show(self.drive.port.measured.arrival_ns is not None, tick.now_ns)

    def _publish(self) -> None:
        """Publish the measured state of the arm with its own stamp."""
        measured = self.drive.port.measured
        if measured.stamp_ns == 0 or measured.names != self._names:
            # The arm itself marks it as invalid, or does not have its tool yet.
            return
        count, velocity = len(self._names), measured.velocity
        if len(measured.position) != count or not np.isfinite(measured.position).all():
            return
        self._q[:count] = measured.position
        if velocity is not None and len(velocity) != count:
            velocity = None
        if velocity is not None:
            self._qd[:count] = velocity
        opening, opening_speed, _ = self.drive.port.read_jaw()
        if opening is not None:
            self._q[count:], self._qd[count:] = opening, opening_speed or 0.0
        if self._view is not None:
            self._view.end()
            self._view = None
        self._output.publish(self._q, None if velocity is None else self._qd, measured.stamp_ns)

    def _fail(self, error: BaseException) -> None:
        """Freeze any motion: an error has ended the loop, and nothing continues without it."""
        self.drive.stop(Finding(Reason.LOOP_FAILED, repr(error)))
        self.drive.send_results()

    def _watch(self) -> None:
        """Fail with the loop: a bridge that does not watch its arm is useless."""
        failed, self._failed = self._failed, self.loop.error
        # One check later, so that clients get the results of their goals first.
        if failed is not None:
            raise failed


def _refuse_simulated_time(node: Node, settings: BridgeSettings) -> None:
    """Refuse use_sim_time with a real arm; a running node cannot change it anyway."""
    if settings.hardware != SIMULATED and node.get_parameter("use_sim_time").value:
        reason = f"a real arm runs on real time; leave it off with {settings.hardware}"
        raise InvalidInput("use_sim_time", reason)


def _our_topics(settings: BridgeSettings, has_jaw: bool) -> list[str]:
    topics = [SERVO_JP, HOLD]
    if has_jaw:
        topics.append(JAW_SERVO_JP)
    if settings.publish_joint_states:
        topics.append(JOINT_STATES)
    if settings.publish_description:
        topics.append(ROBOT_DESCRIPTION)
    return [topic.name_of(settings.arm) for topic in topics]


class _Bridge(Protocol):
    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is moving."""

    def adopt(self, settings: BridgeSettings) -> None:
        """Take parameters that were changed at rest."""

    def stop(self) -> None:
        """End, and publish nothing more."""


class BridgeNode(Node):
    """The node of a bridge for one arm, or for all setup joints together."""

    def __init__(self) -> None:
        super().__init__("arm_bridge")
        settings = Parameters(
            self,
            BridgeSettings,
            on_change=lambda changed: self.bridge.adopt(changed),
            is_at_rest=lambda: self.bridge.is_at_rest,
        ).values
        _refuse_simulated_time(self, settings)
        parts = part_names(settings.arm)
        # Before we offer or publish anything: the first bridge must not notice a second one.
        sole = sole_topic(settings.arm, has_parts=bool(parts))
        claim_topic(self, sole, f"bridge of {settings.arm}")
        self.bridge: _Bridge = (
            SetupJointBridge(self, settings, parts) if parts else ArmBridge(self, settings)
        )
        # The garbage collector need never examine the present objects again.
        gc.collect()
        gc.freeze()

    def stop(self) -> None:
        """End the bridge."""
        self.bridge.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is told to stop."""
    return run_node(BridgeNode, arguments, on_stop=BridgeNode.stop, executable="arm_bridge")


if __name__ == "__main__":
    sys.exit(main())
