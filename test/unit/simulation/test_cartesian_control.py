"""Cartesian space: poses, the cannula, base frames, the services."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry import se3

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
CANNULA = "tool/endoscope needs to be inserted past the cannula to switch to cartesian space"


def shifted(T, *step):
    goal = T.copy()
    goal[:3, 3] += step
    return goal


def test_poses_are_those_of_the_kinematics(psm, rng):
    arm = load_arm("PSM", instrument="400006", zero="controller")
    for _ in range(5):
        q = arm.random_q(rng)
        psm.do("move_jp", q, seconds=6.0)
        np.testing.assert_allclose(psm.arm.measured_cp.T, arm.forward(q), atol=1e-12)
        np.testing.assert_allclose(psm.arm.setpoint_cp.T, arm.forward(q), atol=1e-12)


@pytest.mark.parametrize("command", ("servo_cp", "move_cp"))
def test_a_pose_is_reached(psm, command):
    goal = shifted(psm.arm.setpoint_cp.T, 0.01, -0.005, 0.003)
    psm.do(command, goal, seconds=2.0)
    np.testing.assert_allclose(psm.arm.measured_cp.T, goal, atol=1e-9)


def test_move_cp_follows_joints_not_a_line(psm):
    goal = shifted(psm.arm.setpoint_cp.T, 0.05, 0.03, -0.04)
    psm.do("move_cp", goal, seconds=0.4)
    start, now = np.array([0.0, 0.0, -0.1135]), psm.arm.setpoint_cp.T[:3, 3]
    direction = goal[:3, 3] - start
    off = np.linalg.norm(np.cross(now - start, direction)) / np.linalg.norm(direction)
    assert off > 1e-4


def test_the_stamp_of_the_frame_does_not_matter_but_the_base_frame_does(psm):
    base = se3.make([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0.1, 0.2, 0.3])
    psm.do("set_base_frame", base, "table")
    reading = psm.arm.measured_cp
    assert (reading.frame_id, reading.is_valid) == ("table", True)
    np.testing.assert_allclose(reading.T, base @ psm.arm.local_measured_cp.T, atol=1e-12)
    assert psm.arm.local_measured_cp.frame_id == "PSM1_base"
    goal = shifted(reading.T, 0.01, 0.0, 0.0)
    psm.do("move_cp", goal, seconds=2.0)
    np.testing.assert_allclose(psm.arm.measured_cp.T, goal, atol=1e-9)


def test_velocities_are_along_the_base_and_along_the_tip(psm):
    """1.2: measured_cv turns with set_base_frame, its frame_id does not; local/ is the body's."""
    base = se3.make([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0.0, 0.0, 0.0])
    psm.do("set_base_frame", base, "table")
    psm.do("move_jp", [0.5, 0.2, 0.15, 0.3, 0.2, 0.1], seconds=0.4)
    arm = load_arm("PSM", instrument="400006", zero="controller")
    js = psm.arm.measured_js
    twist = arm.twist(js.position, js.velocity)
    R = psm.arm.local_measured_cp.T[:3, :3]
    cv, local = psm.arm.measured_cv, psm.arm.local_measured_cv
    assert (cv.frame_id, local.frame_id) == ("PSM1_base", "PSM1_base")
    np.testing.assert_allclose(cv.twist[:3], base[:3, :3] @ twist[:3], atol=1e-12)
    np.testing.assert_allclose(cv.twist[3:], base[:3, :3] @ twist[3:], atol=1e-12)
    np.testing.assert_allclose(local.twist[:3], R.T @ twist[:3], atol=1e-12)
    np.testing.assert_allclose(local.twist[3:], R.T @ twist[3:], atol=1e-12)


def test_jacobians_are_of_body_and_space(psm):
    psm.do("move_jp", [0.5, 0.2, 0.15, 0.3, 0.2, 0.1], seconds=0.4)
    body, spatial = psm.arm.body_jacobian, psm.arm.spatial_jacobian
    adjoint = se3.adjoint(psm.arm.local_measured_cp.T)
    np.testing.assert_allclose(adjoint @ body, spatial, atol=1e-12)
    np.testing.assert_allclose(
        body @ psm.arm.measured_js.velocity, psm.arm.local_measured_cv.twist, atol=1e-12
    )


@pytest.mark.parametrize("command", ("servo_cp", "move_cp"))
def test_goals_next_to_the_rcm_are_refused(psm, command):
    goal = psm.arm.setpoint_cp.T.copy()
    goal[:3, 3] = [0.0, 0.0, -0.0005]
    events = psm.do(command, goal, seconds=0.5)
    assert ("error", "PSM1: unable to solve inverse kinematics ()") in events
    warning = "PSM1: InverseKinematics, can't solve IK too close to RCM"
    assert ("warning", warning) in events
    told = [e for e in events if e[0] in ("operating_state", "goal_reached")]
    expected = [("goal_reached", "False"), ("operating_state", "ENABLED homed=1 busy=0")]
    assert told == (expected if command == "move_cp" else [])
    np.testing.assert_allclose(psm.arm.setpoint_js.position, HOME, atol=1e-12)


def test_the_shaft_is_kept_45_mm_from_the_rcm(psm):
    goal = psm.arm.setpoint_cp.T.copy()
    goal[:3, 3] = [0.0, 0.0, -0.03]
    psm.do("move_cp", goal, seconds=3.0)
    assert psm.arm.setpoint_js.position[2] == pytest.approx(0.0606)


@pytest.mark.parametrize("z", (-0.35, 0.05))
def test_far_goals_are_clipped_joint_by_joint_and_fault(psm, z):
    """X9: no error of the inverse kinematics, but a step that the PID does not follow."""
    goal = psm.arm.setpoint_cp.T.copy()
    goal[:3, 3] = [0.0, 0.0, z]
    errors = psm.texts("error", "servo_cp", goal)
    assert len(errors) == 1 and "tracking error" in errors[0]
    assert psm.arm.setpoint_js.position[2] in (0.0, 0.24)


def test_a_goal_ten_metres_away_stays_inside_the_limits(psm):
    psm.do("servo_cp", shifted(psm.arm.setpoint_cp.T, 10.0, 0.05, 0.0))
    q = psm.arm.setpoint_js.position
    assert psm.arm.operating_state.state == "FAULT"
    assert np.isfinite(q).all() and abs(q[0]) <= 1.588 and 0.0 <= q[2] <= 0.24


def test_the_cannula_is_warned_of_once_in_thousand(psm):
    psm.do("move_jp", [0.0, 0.0, 0.03, 0.0, 0.0, 0.0], seconds=3.0)
    goal = shifted(psm.arm.setpoint_cp.T, 0.0, 0.0, -0.002)
    psm.arm.take_events()
    for _ in range(1001):
        psm.arm.servo_cp(goal)
    psm.run(0.1)
    assert psm.told() == [("warning", f"PSM1: {CANNULA}")] * 2
    assert psm.arm.setpoint_js.position[2] == pytest.approx(0.03)


def test_move_cp_after_a_move_goes_in_spite_of_the_cannula(psm):
    """X8: the warning comes, and the arm moves."""
    psm.do("move_jp", [0.0, 0.0, 0.03, 0.0, 0.0, 0.0], seconds=3.0)
    events = psm.do("move_cp", shifted(psm.arm.setpoint_cp.T, 0, 0, -0.002), seconds=1.0)
    assert ("warning", f"PSM1: {CANNULA}") in events
    assert ("goal_reached", "True") in events
    assert psm.arm.setpoint_js.position[2] == pytest.approx(0.032)


def test_move_cp_after_servo_does_not_stay_busy_at_the_cannula(psm):
    """Deviation cannula_move_cp: the dVRK is busy until the next move."""
    psm.do("move_jp", [0.0, 0.0, 0.03, 0.0, 0.0, 0.0], seconds=3.0)
    psm.do("servo_jp", [0.0, 0.0, 0.03, 0.0, 0.0, 0.0])
    events = psm.do("move_cp", shifted(psm.arm.setpoint_cp.T, 0, 0, -0.002), seconds=1.0)
    assert events == [("warning", f"PSM1: {CANNULA}")]
    assert not psm.arm.operating_state.is_busy


def test_a_cartesian_state_with_velocity_feeds_it_forward(psm):
    pose = psm.arm.setpoint_cp.T.copy()
    twist = np.array([0.01, 0.0, 0.0, 0.0, 0.0, 0.0])
    psm.do("servo_cs", pose, twist)
    arm = load_arm("PSM", instrument="400006", zero="controller")
    rates = psm.arm.setpoint_js.velocity
    np.testing.assert_allclose(arm.twist(HOME, rates), twist, atol=1e-9)
    np.testing.assert_allclose(psm.arm.setpoint_cp.T, pose, atol=1e-9)
    psm.do("servo_cs", None, -twist)
    np.testing.assert_allclose(psm.arm.setpoint_js.velocity, -rates, atol=1e-9)
    assert psm.texts("warning", "servo_cs", None) == [
        "PSM1: servo_cs, received a pose that is not valid"
    ]


def test_wrenches_are_told_as_efforts(psm):
    events = psm.do("body_servo_cf", [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert events == [
        ("status", "PSM1: control CARTESIAN_SPACE/EFFORT_MODE"),
        ("status", "PSM1: effort cartesian WRENCH_BODY"),
    ]
    np.testing.assert_allclose(psm.arm.setpoint_js.effort, [0, 0, 1, 0, 0, 0], atol=1e-6)
    assert psm.do("spatial_servo_cf", [0.0] * 6) == [
        ("status", "PSM1: effort cartesian WRENCH_SPATIAL")
    ]


def test_services_take_and_give_as_the_dvrk_does(psm):
    """0.3, X13: the base frame in forward only, and answers that are used again."""
    base = se3.make(np.eye(3), [0.1, 0.2, 0.3])
    psm.do("set_base_frame", base, "table")
    q = [0.2, -0.1, 0.15, 0.3, 0.4, -0.2]
    local = psm.arm.forward_kinematics(q, local=True)
    world = psm.arm.forward_kinematics(q)
    np.testing.assert_allclose(world.T, base @ local.T, atol=1e-12)
    solved = psm.arm.inverse_kinematics(local.T, HOME)
    np.testing.assert_allclose(solved.jp, q, atol=1e-9)
    bad = psm.arm.forward_kinematics([*q, 0.0])
    assert (bad.result, bad.message) == (False, "too many joints")
    np.testing.assert_array_equal(bad.T, world.T)
    again = psm.arm.forward_kinematics(q)
    assert (again.result, again.message) == (True, "too many joints")
    few = psm.arm.inverse_kinematics(local.T, [0.0] * 3)
    assert (few.result, few.message) == (False, "incorrect number of joints")


def test_inverse_kinematics_is_not_clipped(psm):
    T = psm.arm.local_setpoint_cp.T.copy()
    T[2, 3] = -0.35
    answer = psm.arm.inverse_kinematics(T, HOME)
    assert answer.result
    assert answer.jp[2] == pytest.approx(0.3565)


@pytest.mark.parametrize("far", (1e3, 1e6, 1e12, 1e160, 1e300))
@pytest.mark.parametrize("command", ("servo_cp", "move_cp", "set_base_frame"))
def test_poses_beyond_all_reach_do_no_harm(psm, command, far):
    goal = psm.arm.setpoint_cp.T.copy()
    goal[0, 3] = far
    arguments = (goal, "far") if command == "set_base_frame" else (goal,)
    psm.do(command, *arguments, seconds=1.0)
    assert np.isfinite(psm.arm.setpoint_js.position).all()
    assert np.isfinite(psm.arm.measured_cp.T).all()
    assert np.isfinite(psm.arm.inverse_kinematics(goal, HOME).jp).all()


def test_poses_beyond_all_reach_do_no_harm_to_an_ecm(ecm):
    for far in (1e3, 1e12, 1e300):
        goal = ecm.arm.setpoint_cp.T.copy()
        goal[0, 3] = far
        for command in ("servo_cp", "move_cp"):
            ecm.do(command, goal)
        assert not ecm.arm.inverse_kinematics(goal, [0.0, 0.0, 0.12, 0.0]).result
    assert ecm.arm.operating_state == ("ENABLED", True, False)


def test_wrenches_that_cannot_be(psm):
    warning = "PSM1: body_servo_cf, expected 6 values but received 2"
    assert psm.do("body_servo_cf", [0.0, 0.0]) == [("warning", warning)]
    psm.do("move_jp", [0.0, 0.0, 0.03, 0.0, 0.0, 0.0], seconds=3.0)
    assert psm.do("body_servo_cf", [0.0] * 6) == [("warning", f"PSM1: {CANNULA}")]
    assert psm.do("jaw_servo_jf", [0.1]) == []


def test_any_rigid_pose_gets_an_answer_in_bounded_time(psm, rng):
    """Also those for which the dVRK's search does not end."""
    for _ in range(60):
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        T = se3.make(R * np.sign(np.linalg.det(R)), rng.uniform(-0.2, 0.2, 3))
        answer = psm.arm.inverse_kinematics(T, HOME)
        assert answer.result and np.isfinite(answer.jp).all()


def test_a_pose_for_which_the_search_does_not_end(psm):
    T = np.array(
        [
            [-0.56240901, 0.04285293, -0.82574798, -0.06973981],
            [-0.55836056, -0.75625397, 0.34104753, -0.07819788],
            [-0.6098603, 0.65287331, 0.44925144, -0.08189959],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    answer = psm.arm.inverse_kinematics(T, HOME)
    assert answer.result
    arm = load_arm("PSM", instrument="400006", zero="controller")
    np.testing.assert_allclose(arm.forward(answer.jp), T, atol=1e-6)
