"""The bridge of all setup joints together, which it only shows: they are moved by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from rclpy.node import Node

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.models.schema import LinkModel
from dvrk_kinematics.ros.bridge.contract import JOINT_STATES, MEASURED_JS, ROBOT_DESCRIPTION
from dvrk_kinematics.ros.bridge.crtk_port import JointStream
from dvrk_kinematics.ros.bridge.description import Description, describe_arm
from dvrk_kinematics.ros.bridge.diagnostics import (
    ERROR,
    WARN,
    Diagnostics,
    OtherPublishers,
    Report,
)
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.bridge.state_output import StateOutput
from dvrk_kinematics.ros.common.steady_loop import SteadyLoop, Tick
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = ["SetupJointBridge"]

_CART_FRAME = "Cart"
"""The root of the dVRK's own tf tree."""

_STALE_S = 1.0


class _SetupJoints:
    """The setup joints of one arm: their positions, and their slice of the full vector."""

    def __init__(self, node: Node, group: str, arm: str, names: Sequence[str], first: int) -> None:
        self.arm = arm
        self.stream = JointStream(node, MEASURED_JS, f"{group}/{arm}")
        self.was_valid = False
        self._names = tuple(names)
        self._place = slice(first, first + len(names))

    def read(self, q: np.ndarray, now_ns: int) -> bool:
        """Write new positions into the full vector; return whether there are any."""
        if not self.stream.poll(now_ns) or self.stream.stamp_ns == 0:
            return False
        # For the ECM the controller lists two more joints, which never move.
        count = len(self._names)
        position = self.stream.position[:count]
        if self.stream.names[:count] != self._names or len(position) != count:
            return False
        if not np.isfinite(position).all():
            return False
        q[self._place] = position
        self.was_valid = True
        return True


class SetupJointBridge:
    """Shows the setup joints of a cart.

    Args:
        node: The node.
        settings: Its parameters.
        parts: Models of the setup joint arms, such as ``SUJ_PSM1``.

    Raises:
        UnknownName: A parameter names an arm without setup joints.
    """

    def __init__(self, node: Node, settings: BridgeSettings, parts: Sequence[str]) -> None:
        group = settings.arm
        known = {part[len(group) + 1 :]: part for part in parts}
        joints: list[str] = []
        self._arms: list[_SetupJoints] = []
        for arm in settings.setup_joints:
            if arm not in known:
                raise UnknownName("arm with setup joints", arm, known)
            names = load_arm(known[arm]).joint_names
            self._arms.append(_SetupJoints(node, group, arm, names, len(joints)))
            joints += names
        every = [name for part in parts for name in load_arm(part).joint_names]
        whole = describe_arm(settings, (), every, joints, "", _CART_FRAME)
        self._settings = settings
        self._q = np.zeros(len(joints))
        self._output = StateOutput(node, settings, _only(whole, joints), joints)
        self._others = OtherPublishers(
            node, [topic.name_of(group) for topic in (JOINT_STATES, ROBOT_DESCRIPTION)]
        )
        self.loop = SteadyLoop(
            1.0 / settings.rate,
            self._tick,
            is_at_rest=lambda: True,
            on_error=lambda _: None,
            name="setup joints",
        )
        if settings.publish_diagnostics:
            Diagnostics(node, group, self._reports)
        create_steady_timer(node, 0.5, self._watch)
        self.loop.start()
        arms = ", ".join(settings.setup_joints)
        node.get_logger().info(f"{group}: setup joints of {arms}, {settings.hardware}; shown only")

    @property
    def is_at_rest(self) -> bool:
        """Always true: this bridge only shows setup joints and never moves them."""
        return True

    def adopt(self, settings: BridgeSettings) -> None:
        """Do nothing: no changeable parameter concerns setup joints."""

    def stop(self) -> None:
        """End, and publish nothing more."""
        self.loop.stop()
        self._output.close()

    def _tick(self, tick: Tick) -> None:
        news = [arm for arm in self._arms if arm.read(self._q, tick.now_ns)]
        if news and all(arm.was_valid for arm in self._arms):
            stamp_ns = max(arm.stream.stamp_ns for arm in news)
            self._output.publish(self._q, None, stamp_ns)

    def _watch(self) -> None:
        """Fail with the loop."""
        if self.loop.error is not None:
            raise self.loop.error

    def _reports(self) -> Iterator[Report]:
        now_ns = time.monotonic_ns()
        for arm in self._arms:
            report = Report(f"{arm.arm} connection")
            arrival = arm.stream.arrival_ns
            age = None if arrival is None else (now_ns - arrival) * 1e-9
            report.values = {"state_age_s": age, "is_valid": arm.stream.stamp_ns != 0}
            if age is None or age > _STALE_S:
                report.worsen(ERROR, "no state arrives")
            elif arm.stream.stamp_ns == 0:
                report.worsen(WARN, "the setup joints are being moved, or not valid")
            yield report
        strangers = Report("other publishers", "none")
        for topic, names in self._others.find().items():
            strangers.values[topic] = ", ".join(names)
            strangers.worsen(WARN, f"others publish {topic} too")
        yield strangers


def _only(whole: Description, joints: Sequence[str]) -> Description:
    """Reduce a description to the links that some joints move, and to fixed links."""
    kept: list[LinkModel] = []
    names: set[str] = set()
    for link in whole.links:
        hangs_on_kept = link.parent is None or link.parent in names
        if hangs_on_kept and (link.joint is None or link.joint in joints):
            kept.append(link)
            names.add(link.name)
    movable = {name: mimic for name, mimic in whole.movable.items() if mimic.joint in joints}
    return replace(whole, links=tuple(kept), movable=movable)
