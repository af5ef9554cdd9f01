"""Wrong messages over the wire: nothing becomes NaN, nothing hangs, the arm goes on or recovers.

The messages are those that were sent to the dVRK's own software; what it made of each is recorded
in bad_messages.json, and the tests of the simulation compare that one by one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from crtk_msgs.msg import CartesianImpedance, CartesianState, StringStamped
from crtk_msgs.srv import QueryForwardKinematics, QueryInverseKinematics
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, String

from dvrk_kinematics.ros.bringup.processes import simulated_arms
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common.conversions import to_flat
from dvrk_kinematics.simulation.deviations import DEVIATIONS

CYCLES = 20
TIMEOUT_S = 30.0
HOME = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]
GOAL = [0.01, 0.0, 0.12, 0.0, 0.0, 0.0]
NAN, INF = math.nan, math.inf


def joints(count: int, **fields: list[float]) -> JointState:
    position = [*HOME, 0.0, 0.0][:count]
    return JointState(**({"position": position} | fields))


def tip(x: float, w: float) -> PoseStamped:
    pose = Pose(position=Point(x=x, z=-0.11), orientation=Quaternion(x=w, y=w, w=0.0))
    return PoseStamped(pose=pose)


WRONG: dict[str, tuple[str, Any]] = {
    **{f"servo_jp_{n}": ("servo_jp", joints(n)) for n in (0, 5, 7, 8)},
    **{f"move_jp_{n}": ("move_jp", joints(n)) for n in (0, 5, 7)},
    "servo_jr_5": ("servo_jr", joints(5)),
    "move_jr_5": ("move_jr", joints(5)),
    **{f"servo_jf_{n}": ("servo_jf", JointState(effort=[0.0] * n)) for n in (0, 5, 7)},
    "servo_jf_nan": ("servo_jf", JointState(effort=[NAN] * 6)),
    "servo_jp_nan": ("servo_jp", JointState(position=[NAN, *HOME[1:]])),
    "servo_jp_inf": ("servo_jp", JointState(position=[INF, *HOME[1:]])),
    "servo_jp_vel_3": ("servo_jp", joints(6, velocity=[0.1] * 3)),
    "servo_jp_vel_7": ("servo_jp", joints(6, velocity=[0.1] * 7)),
    "servo_jp_vel_nan": ("servo_jp", joints(6, velocity=[NAN] * 6)),
    "move_jp_nan": ("move_jp", JointState(position=[NAN, *HOME[1:]])),
    "move_jp_inf": ("move_jp", JointState(position=[INF, *HOME[1:]])),
    "servo_cp_nan": ("servo_cp", tip(NAN, math.sqrt(0.5))),
    "servo_cp_zero_quat": ("servo_cp", tip(0.0, 0.0)),
    "servo_cp_nan_quat": ("servo_cp", tip(0.0, NAN)),
    "move_cp_nan": ("move_cp", tip(NAN, math.sqrt(0.5))),
    "move_cp_zero_quat": ("move_cp", tip(0.0, 0.0)),
    "set_base_frame_zero_quat": ("set_base_frame", tip(0.0, 0.0)),
    "set_base_frame_nan": ("set_base_frame", tip(NAN, math.sqrt(0.5))),
    "jaw_servo_jp_0": ("jaw/servo_jp", JointState()),
    "jaw_servo_jp_2": ("jaw/servo_jp", JointState(position=[0.3, 0.4])),
    "jaw_servo_jp_nan": ("jaw/servo_jp", JointState(position=[NAN])),
    "jaw_servo_jf_0": ("jaw/servo_jf", JointState()),
    "jaw_move_jp_0": ("jaw/move_jp", JointState()),
    "jaw_move_jp_nan": ("jaw/move_jp", JointState(position=[NAN])),
    "servo_cs_nothing": ("servo_cs", CartesianState()),
    "servo_cs_zero_quat": ("servo_cs", CartesianState(pose_is_valid=Bool(data=True))),
    "servo_ci": ("servo_ci", CartesianImpedance()),
    "body_servo_cf_nan": ("body/servo_cf", WrenchStamped()),
    "ratio_0": ("trajectory_j/set_ratio", Float64(data=0.0)),
    "ratio_nan": ("trajectory_j/set_ratio_v", Float64(data=NAN)),
    "tool_nonsense": ("set_tool_type", String(data="nonsense")),
    "state_empty": ("state_command", StringStamped()),
    "state_case": ("state_command", StringStamped(string="ENABLE")),
}
# What the dVRK drops without a word, or is hurt by, is answered with a warning here.
WARNED = {name for one in DEVIATIONS if "warning" in one.here for name in one.recordings}
WRONG["body_servo_cf_nan"][1].wrench.force.x = NAN
WRONG["servo_cs_zero_quat"][1].pose.orientation.w = 0.0


@pytest.fixture(scope="module")
def psm(run: Any, node: Node) -> ArmClient:
    process = run(simulated_arms(["PSM1"]))
    client = ArmClient(node, "PSM1")
    client.process = process
    client.hear("operating_state", "status", "error", "warning", "goal_reached")
    client.hear("measured_js", "setpoint_js", "setpoint_cp", "jaw/setpoint_js")
    client.check_connections()
    client.enable()
    client.home()
    return client


def test_every_recorded_message_is_sent() -> None:
    assert {name for name in WARNED if not name.startswith("c")} <= WRONG.keys()


def settle(psm: ArmClient) -> None:
    """Let the message act: it arrives at once, and shows in the next cycles."""
    before = len(psm.heard["setpoint_js"])
    psm.wait("setpoint_js", lambda: len(psm.heard["setpoint_js"]) >= before + CYCLES)
    psm.newest("setpoint_js")
    psm.wait("operating_state", lambda: not psm.state.is_busy)


def recover(psm: ArmClient) -> None:
    """Bring the arm back to where a client can move it."""
    if psm.state.state != "ENABLED":
        psm.command("disable", lambda state: state.state == "DISABLED")
        psm.enable()
        psm.home()
    for goal in (GOAL, HOME):
        assert psm.move_joints("move_jp", goal)
    np.testing.assert_allclose(psm.newest("measured_js").position, HOME, atol=1e-6)


@pytest.mark.parametrize("name", WRONG)
def test_the_arm_goes_on_or_recovers(psm: ArmClient, name: str) -> None:
    for heard in psm.heard.values():
        del heard[:-1]
    psm.heard["warning"][:] = [String(data="the last one before")]
    topic, message = WRONG[name]
    psm.send(topic, message)
    if name in WARNED:
        psm.wait("warning", lambda: any("PSM1: " in text for text in psm.texts("warning")))
    settle(psm)
    assert psm.process.poll() is None
    assert psm.state.state in ("ENABLED", "DISABLED", "FAULT")
    recover(psm)
    for state in ("measured_js", "setpoint_js", "jaw/setpoint_js"):
        for said in psm.heard[state]:
            assert np.isfinite([*said.position, *said.velocity, *said.effort]).all(), said
    for said in psm.heard["setpoint_cp"]:
        p, q = said.pose.position, said.pose.orientation
        assert np.isfinite([p.x, p.y, p.z, q.x, q.y, q.z, q.w]).all(), said


@pytest.mark.parametrize(
    ("service", "kind", "fields"),
    [
        ("forward_kinematics", QueryForwardKinematics, {"jp": to_flat(np.array([NAN] * 6))}),
        ("local/forward_kinematics", QueryForwardKinematics, {"jp": to_flat(np.zeros(9))}),
        ("inverse_kinematics", QueryInverseKinematics, {"cp": tip(NAN, 0.7).pose}),
        ("inverse_kinematics", QueryInverseKinematics, {"cp": tip(0.0, 0.0).pose}),
        ("inverse_kinematics", QueryInverseKinematics, {"jp": to_flat(np.array([NAN] * 6))}),
        ("inverse_kinematics", QueryInverseKinematics, {"jp": to_flat(np.zeros(3))}),
    ],
)
def test_services_always_answer(
    psm: ArmClient, node: Node, service: str, kind: Any, fields: dict[str, Any]
) -> None:
    if kind is QueryInverseKinematics:
        fields = {"cp": tip(0.0, math.sqrt(0.5)).pose, "jp": to_flat(np.array(HOME))} | fields
    client = node.create_client(kind, psm.start + service)
    answer = call(client, kind.Request(**fields), TIMEOUT_S)
    assert not answer.result and answer.message
    assert np.isfinite(getattr(answer, "jp", [])).all()
