"""Jogs an arm for a while: its tip along or about an axis, or one of its joints."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from control_msgs.msg import JointJog
from geometry_msgs.msg import TwistStamped

from dvrk_kinematics.driver.reasons import Reason
from dvrk_kinematics.errors import CallFailed, UnknownName
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.schema import JointKind
from dvrk_kinematics.ros.arm_command.arm_client import ArmClient, ArmOutcome
from dvrk_kinematics.ros.arm_command.bridge_facts import BridgeFacts
from dvrk_kinematics.ros.arm_command.read_target import joint_quantity
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.patience import looking_at
from dvrk_kinematics.ros.common.quantity import Quantity, read_quantity, show_quantity

__all__ = ["TIP_AXES", "JogRequest", "read_jog", "run_jog"]

TIP_AXES = ("x", "y", "z", "rx", "ry", "rz")
"""Axes of the tip: along and about x, y and z."""
_PERIOD_S = 0.02
_FIND_S = 30.0
_LOOKS = 5
_OWN_ENDS = (Reason.JOG_ENDED.name, Reason.JOG_TIMEOUT.name)


@dataclass(frozen=True, slots=True)
class JogRequest:
    """What to jog.

    Attributes:
        axis: One of TIP_AXES, or a joint.
        speed: How fast (rad/s, m/s).
        frame: The frame of the axes, as the bridge's jog takes it; empty for the arm's base.
    """

    axis: str
    speed: float
    frame: str = ""


def read_jog(facts: BridgeFacts, axis: str, speed: str, frame: str) -> JogRequest:
    """Read a jog as typed by a user.

    Raises:
        UnknownName: There is no such axis or joint.
        InvalidInput: The speed cannot be read.
    """
    if axis in TIP_AXES:
        quantity = Quantity.ANGULAR_SPEED if axis.startswith("r") else Quantity.SPEED
        return JogRequest(axis, read_quantity("speed", speed, quantity), frame)
    joints = dict(zip(facts.joint_names, facts.arm.model.joints, strict=True))
    if axis not in joints:
        raise UnknownName("axis or joint", axis, (*TIP_AXES, *joints))
    is_slide = joints[axis].kind is JointKind.PRISMATIC
    quantity = Quantity.SPEED if is_slide else Quantity.ANGULAR_SPEED
    return JogRequest(axis, read_quantity("speed", speed, quantity))


def run_jog(client: ArmClient, jog: JogRequest, duration_s: float) -> ArmOutcome:
    """Jog, and come to rest, even if interrupted.

    Raises:
        CallFailed: The arm has no valid joints, or its bridge does not receive jogs.
    """
    begin_q = client.read_joints()
    kind, topic = (TwistStamped, "jog") if jog.axis in TIP_AXES else (JointJog, "jog_joints")
    name = f"bridge/{client.name}/{topic}"
    publisher = client.node.create_publisher(kind, name, qos.COMMAND)
    is_heard = looking_at(lambda: publisher.get_subscription_count() > 0)
    if not client.patience.wait(is_heard, f"a bridge that hears {name}", _FIND_S):
        raise CallFailed(name, _FIND_S, "no subscriber appeared")
    begin_s = now_s = time.monotonic()
    message = _make_message(client.facts, jog, jog.speed)
    try:
        while now_s - begin_s < duration_s and not _find_refusal(client, begin_s):
            publisher.publish(message)
            time.sleep(min(_PERIOD_S, begin_s + duration_s - now_s))
            now_s = time.monotonic()
    finally:
        # A zero ends the jog. If this message is lost, the bridge ends it after jog_timeout.
        publisher.publish(_make_message(client.facts, jog, 0.0))
    return _make_outcome(client, jog, begin_s, begin_q)


def _make_outcome(
    client: ArmClient, jog: JogRequest, begin_s: float, begin_q: Array
) -> ArmOutcome:
    slowed = ""
    for _ in range(_LOOKS):
        motion = client.wait_for_line("motion")
        if motion is None:
            break
        slowed = motion.values.get("jog_slowed_by", "") or slowed
        if motion.message == "at rest" or "is near a limit" in motion.message:
            break
    stop = client.diagnostics.newest(f"{client.name} last stop")
    refusal = _find_refusal(client, begin_s)
    if refusal:
        return ArmOutcome(False, refusal)
    moved = _show_way(client, jog, begin_q)
    has_stopped = stop is not None and stop.is_since("stop_age_s", begin_s)
    if stop is not None and has_stopped and stop.values.get("stop") not in _OWN_ENDS:
        return ArmOutcome(False, f"{stop.message}; {moved}")
    return ArmOutcome(True, f"{moved}; {slowed}" if slowed else moved)


def _find_refusal(client: ArmClient, begin_s: float) -> str:
    """Return why the bridge has refused something since a moment; empty if it has not."""
    line = client.diagnostics.newest(f"{client.name} last stop")
    if line is None or not line.is_since("refusal_age_s", begin_s):
        return ""
    # A jog of another kind comes to rest first, and then this one is accepted.
    is_passing = line.values.get("refusal") == Reason.JOG_CHANGES.name
    return "" if is_passing else line.values.get("refused", "")


def _show_way(client: ArmClient, jog: JogRequest, begin_q: Array) -> str:
    facts, end_q = client.facts, client.read_joints()
    if jog.axis not in TIP_AXES:
        k = facts.joint_names.index(jog.axis)
        quantity = joint_quantity(facts.arm.model.joints[k].kind)
        return f"{jog.axis} moved by {show_quantity(end_q[k] - begin_q[k], quantity)}"
    T_begin, T_end = facts.arm.forward(begin_q), facts.arm.forward(end_q)
    way = float(np.linalg.norm(T_end[:3, 3] - T_begin[:3, 3]))
    turn = float(so3.angle_between(T_begin[:3, :3], T_end[:3, :3]))
    return (
        f"the tip moved by {show_quantity(way, Quantity.LENGTH)} "
        f"and turned by {show_quantity(turn, Quantity.ANGLE)}"
    )


def _make_message(facts: BridgeFacts, jog: JogRequest, speed: float) -> Any:
    if jog.axis not in TIP_AXES:
        name = facts.sent_names[facts.joint_names.index(jog.axis)]
        return JointJog(joint_names=[name], velocities=[speed])
    message = TwistStamped()
    message.header.frame_id = jog.frame
    part = message.twist.angular if jog.axis.startswith("r") else message.twist.linear
    setattr(part, jog.axis[-1], speed)
    return message
