"""What the official Python clients do to a PSM, in one run against one simulator."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from crtk_msgs.msg import StringStamped
from crtk_msgs.srv import QueryForwardKinematics, QueryInverseKinematics, TriggerOperatingState
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.bringup.processes import simulated_arms
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common.conversions import matrix_to_pose, pose_to_matrix, to_flat
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.crtk.contract import CONTRACT, Kind, Rate

TIMEOUT_S = 30.0
USED = (
    "measured_js",
    "setpoint_js",
    "measured_cp",
    "setpoint_cp",
    "jaw/measured_js",
    "jaw/setpoint_js",
)
HOME = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def psm(run: Any, node: Node) -> ArmClient:
    """PSM1 of a running simulator, connected as dvrk_python's psm class connects, and homed."""
    run(simulated_arms(["PSM1"]))
    client = ArmClient(node, "PSM1")
    interface = CONTRACT[Kind.PSM]
    client.hear(*(topic.name for topic in interface.published))
    client.prepare(*(topic.name for topic in interface.subscribed))
    client.check_connections()
    client.enable()
    client.home()
    return client


def ask(psm: ArmClient, node: Node, kind: Any, name: str, **fields: Any) -> Any:
    client = node.create_client(kind, psm.start + name)
    return call(client, kind.Request(**fields), TIMEOUT_S)


def test_every_state_topic_arrives_valid(psm: ArmClient) -> None:
    states = [t.name for t in CONTRACT[Kind.PSM].published if t.rate is Rate.STATE]
    for name in states:
        message = psm.newest(name)
        if hasattr(message, "header"):
            assert message.header.stamp.sec > 0, name
    assert psm.newest("measured_js").name == [
        *("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw")
    ]
    assert psm.newest("jaw/measured_js").name == ["jaw"]
    assert not psm.newest("jaw/setpoint_js").velocity
    for name, frame in (("measured_cp", "PSM1_base"), ("local/setpoint_cp", "PSM1_base")):
        assert psm.newest(name).header.frame_id == frame
    jacobian = psm.newest("body/jacobian")
    dims = [(d.label, d.size, d.stride) for d in jacobian.layout.dim]
    assert dims == [("rows", 6, 1), ("cols", 6, 6)] and len(jacobian.data) == 36
    # Sixteen topics at 200 Hz are about all that one Python process can hear.
    psm.forget(*(name for name in states if name not in USED))


def test_moves_are_waited_for(psm: ArmClient) -> None:
    for goal in ([0.2, -0.1, 0.15, 0.3, 0.2, -0.1], HOME):
        assert psm.move_joints("move_jp", goal)
        np.testing.assert_allclose(psm.newest("measured_js").position, goal, atol=1e-6)


def test_a_move_to_where_it_is_still_pulses_busy(psm: ArmClient) -> None:
    assert psm.move_joints("move_jp", HOME)


def test_cartesian_moves_and_servos_reach_their_goals(psm: ArmClient) -> None:
    model = load_arm("PSM", instrument="400006", zero="controller")
    goal = model.forward(np.array([0.1, 0.1, 0.14, 0.2, 0.1, 0.1]))
    # A frame that does not exist is ignored, as the dVRK ignores it.
    stamped = PoseStamped(pose=matrix_to_pose(goal))
    stamped.header.frame_id = "nonsense"
    assert psm.move("move_cp", stamped)
    reached = pose_to_matrix(psm.newest("measured_cp").pose)
    np.testing.assert_allclose(reached, goal, atol=1e-9)
    reached[0, 3] += 0.001
    psm.send("servo_cp", PoseStamped(pose=matrix_to_pose(reached)))
    psm.wait(
        "measured_cp",
        lambda: abs(psm.heard["measured_cp"][-1].pose.position.x - reached[0, 3]) < 1e-5,
    )
    assert psm.move_joints("move_jp", HOME)


def test_jaw_opens_and_closes_beside_the_arm(psm: ArmClient) -> None:
    assert psm.move_joints("jaw/move_jp", [0.6])
    np.testing.assert_allclose(psm.newest("jaw/measured_js").position, [0.6], atol=1e-6)
    psm.send_joints("jaw/servo_jp", [0.5])
    psm.wait(
        "jaw/setpoint_js", lambda: abs(psm.heard["jaw/setpoint_js"][-1].position[0] - 0.5) < 1e-9
    )
    np.testing.assert_allclose(psm.newest("measured_js").position, HOME, atol=1e-6)


def test_a_servo_stream_is_applied_in_its_order_and_the_newest_wins(psm: ArmClient) -> None:
    count, step = 600, 1e-4
    psm.newest("setpoint_js")
    psm.heard["setpoint_js"].clear()
    for number in range(1, count + 1):
        psm.send_joints("servo_jp", [number * step, *HOME[1:]])
        time.sleep(0.005)
    psm.wait("setpoint_js", lambda: _yaw(psm) == pytest.approx(count * step, abs=1e-12))
    applied = [round(message.position[0] / step) for message in psm.heard["setpoint_js"]]
    assert applied == sorted(applied) and len(set(applied)) > count / 4
    # Relative ones that come one after the other add up.
    for number in range(1, 21):
        psm.send_joints("servo_jr", [-step, 0.0, 0.0, 0.0, 0.0, 0.0])
        left = (count - number) * step
        psm.wait("setpoint_js", lambda left=left: _yaw(psm) == pytest.approx(left, abs=1e-9))
    psm.send_joints("servo_jp", HOME)
    psm.wait("setpoint_js", lambda: _yaw(psm) == pytest.approx(0.0, abs=1e-9))


def _yaw(psm: ArmClient) -> float:
    return psm.heard["setpoint_js"][-1].position[0] if psm.heard["setpoint_js"] else float("nan")


def test_services_answer(psm: ArmClient, node: Node) -> None:
    jp = [0.2, -0.1, 0.15, 0.3, 0.4, -0.2]
    answer = ask(psm, node, QueryForwardKinematics, "forward_kinematics", jp=to_flat(np.array(jp)))
    assert answer.result
    p = answer.cp.position
    np.testing.assert_allclose([p.x, p.y, p.z], [0.02727, 0.01089, -0.13978], atol=1e-5)
    back = ask(
        psm,
        node,
        QueryInverseKinematics,
        "inverse_kinematics",
        cp=answer.cp,
        jp=to_flat(np.array(HOME)),
    )
    assert back.result
    np.testing.assert_allclose(back.jp, jp, atol=1e-5)
    many = ask(
        psm, node, QueryForwardKinematics, "local/forward_kinematics", jp=to_flat(np.zeros(7))
    )
    assert not many.result and many.message == "too many joints"
    assert ask(psm, node, Trigger, "crtk_version").message == "1.1.0"
    state = ask(psm, node, TriggerOperatingState, "operating_state").operating_state
    assert (state.state, state.is_homed, state.is_busy) == ("ENABLED", True, False)
    assert state.header.stamp.sec == 0 and state.header.stamp.nanosec == 0


def test_stamps_are_those_of_the_data(psm: ArmClient) -> None:
    events = [stamp_to_ns(message.header.stamp) for message in psm.heard["operating_state"]]
    assert all(a < b for a, b in pairwise(events))
    for name in ("measured_js", "setpoint_js", "setpoint_cp"):
        valid = [m for m in psm.heard[name] if m.header.stamp.sec]
        assert valid
        psm.heard[name][:] = valid
        psm.check_stamps(name)


def test_of_words_sent_back_to_back_only_the_last_is_sure_to_be_heard(psm: ArmClient) -> None:
    before, bursts = len(psm.heard["warning"]), 10
    for burst in range(bursts):
        for word in ("first", "second", f"last{burst}"):
            psm.send("state_command", StringStamped(string=word))
        _wait_for_warning(psm, f"PSM1: last{burst} doesn't")
    heard = psm.texts("warning")[before:]
    # On a busy machine a burst can take longer than a millisecond.
    assert bursts <= len(heard) < 3 * bursts


def _wait_for_warning(psm: ArmClient, start: str) -> None:
    psm.wait("warning", lambda: any(text.startswith(start) for text in psm.texts("warning")[-5:]))


def test_a_late_client_hears_the_last_hundred_events_if_it_asks(
    psm: ArmClient, node: Node
) -> None:
    for number in range(130):
        psm.send("state_command", StringStamped(string=f"bad{number}"))
        _wait_for_warning(psm, f"PSM1: bad{number} doesn't")
    late = ArmClient(node, "PSM1", durable=True)
    late.hear("warning")
    late.wait("warning", lambda: len(late.heard["warning"]) >= 100)
    assert len(late.heard["warning"]) == 100
    assert late.texts("warning")[-1].startswith("PSM1: bad129 ")


def test_pause_and_resume_and_disable(psm: ArmClient) -> None:
    psm.command("pause", lambda state: state.state == "PAUSED")
    psm.send("servo_jp", JointState(position=HOME))
    psm.wait("warning", lambda: any("servo_jp, arm not ready" in t for t in psm.texts("warning")))
    psm.command("resume", lambda state: state.state == "ENABLED")
    psm.command("disable", lambda state: state.state == "DISABLED")
    assert psm.state.state == "DISABLED"
