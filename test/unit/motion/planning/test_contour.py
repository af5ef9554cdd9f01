"""Contour errors and lag are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveAbsJ, MoveC, MoveL
from dvrk_kinematics.motion.planning.planner import Plan, plan_motion
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

Q = np.array([0.1, -0.2, 0.14, 0.3, 0.2, -0.1])
QUICK = TipSpeeds(0.02, 0.04, 0.5, 1.0)


@pytest.fixture(scope="module")
def plan(psm: Arm) -> Plan:
    moves = [
        MoveL(se3.translation([0.02, 0.0, 0.0]), "tool", QUICK),
        MoveL(se3.make(so3.rot_z(1.0), np.zeros(3)), "tool", QUICK),
        MoveC(se3.translation([0.01, 0.01, 0.0]), [0.01, 0.0, 0.0], "tool", QUICK),
        MoveAbsJ(Q),
    ]
    return plan_motion(psm, moves, Q, make_motion_limits(psm))


def test_what_is_late_has_lag_and_no_contour_error(plan: Plan) -> None:
    times = np.arange(0.2, plan.duration_s - 0.2, 0.013)
    errors = plan.path.contour_errors(times, plan.path.poses_at(times - 0.037))
    assert errors.position.max() < 1e-7
    assert errors.rotation.max() < 1e-6
    moving = np.linalg.norm(np.diff(plan.path.poses_at(times)[:, :3, 3], axis=0), axis=1) > 1e-4
    np.testing.assert_allclose(errors.lag_s[1:][moving], 0.037, atol=5e-4)


def test_what_is_beside_the_path_has_a_contour_error_and_no_lag(plan: Plan) -> None:
    times = np.linspace(0.3, 0.9, 50)
    poses = plan.path.poses_at(times)
    along = poses[-1, :3, 3] - poses[0, :3, 3]
    aside = np.cross(along, [0.3, -0.5, 0.8])
    poses[:, :3, 3] += 1e-4 * aside / np.linalg.norm(aside)
    errors = plan.path.contour_errors(times, poses)
    np.testing.assert_allclose(errors.position, 1e-4, rtol=1e-6)
    assert errors.rotation.max() < 1e-9
    assert np.abs(errors.lag_s).max() < 1e-5


def test_a_tool_that_is_turned_has_a_rotation_error(plan: Plan) -> None:
    times = np.linspace(0.3, 0.9, 20)
    poses = plan.path.poses_at(times) @ se3.make(so3.rot_x(0.01), np.zeros(3))
    errors = plan.path.contour_errors(times, poses)
    np.testing.assert_allclose(errors.rotation, 0.01, rtol=1e-6)


def test_what_is_played_is_within_the_proven_deviation(psm: Arm, plan: Plan) -> None:
    times = np.arange(0.0, plan.duration_s, 0.005)
    q = np.array([plan.spline.sample(t).q for t in times])
    errors = plan.path.contour_errors(times, psm.forward(q))
    assert errors.position.max() <= plan.flight_plan.position_deviation + 1e-12
    # Next to rest the nearest time is flat, and found to about 50 us.
    assert errors.rotation.max() <= plan.flight_plan.rotation_deviation + 2e-7


def test_before_and_after_the_path_the_tip_rests(psm: Arm, plan: Plan) -> None:
    np.testing.assert_allclose(plan.path.pose_at(-1.0), psm.forward(Q), atol=1e-12)
    np.testing.assert_allclose(plan.path.pose_at(1e9), psm.forward(Q), atol=1e-12)
    errors = plan.path.contour_errors([plan.duration_s + 5.0], [psm.forward(Q)])
    assert errors.position[0] < 1e-9 and abs(errors.lag_s[0]) < 0.05
    assert len(plan.path.contour_errors([], np.empty((0, 4, 4))).lag_s) == 0


def test_places_are_steps_metres_and_fractions(plan: Plan) -> None:
    step, metres, fraction = plan.path.place(0.0)
    assert (step, metres, fraction) == (0, 0.0, 0.0)
    step, metres, fraction = plan.path.place(plan.duration_s)
    assert step == 3 and fraction == 1.0
    assert metres == pytest.approx(plan.flight_plan.length)
    middle = plan.path.place(0.75)
    assert middle[0] == 0 and 0.0 < middle[1] < 0.02


def test_measured_poses_must_be_poses(plan: Plan) -> None:
    with pytest.raises(InvalidInput, match="T: needs shape"):
        plan.path.contour_errors([0.0, 1.0], [np.eye(4)])
    with pytest.raises(InvalidInput, match="NaN"):
        plan.path.contour_errors([0.0], [np.full((4, 4), np.nan)])


def test_corners_are_told_apart_from_contour_errors(psm: Arm) -> None:
    speeds = TipSpeeds(0.03, 0.08, 1.5, 3.0)
    back = [
        MoveAbsJ(Q + 0.03),
        MoveL(se3.translation([0.0, 0.0, -0.005]), "tool", speeds),
        MoveL(se3.make(so3.rot_z(0.4), np.zeros(3)), "tool", speeds),
        MoveL(se3.translation([0.004, 0.0, 0.0]), "tool", speeds),
    ]
    plan = plan_motion(psm, back, Q, make_motion_limits(psm))
    times = np.random.default_rng(5).uniform(0.0, plan.duration_s, 1500)
    poses = plan.path.poses_at(times)
    for lag in (-0.1, 0.0, 0.003, 0.0237):
        errors = plan.path.contour_errors(times + lag, poses)
        assert errors.position.max() < 1e-7 and errors.rotation.max() < 1e-6, lag
