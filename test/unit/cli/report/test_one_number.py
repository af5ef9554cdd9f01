"""One motion has the same figures in the result of its action and in the report of its bag."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from small_bags import Rows, at, figures_of, joints, path, text, write_bag

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.joint_path import JointPath
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveL
from dvrk_kinematics.motion.planning.planner import Plan, plan_motion
from dvrk_kinematics.motion.planning.tip_follower import (
    FollowingFigures,
    TipFollower,
    summarise_following,
)
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

Q = np.array([0.1, -0.1, 0.12, 0.0, 0.2, 0.1])
BEGAN_NS = at(1.2345678)
PLAN = "/trajectory/PSM1/planned_path"


@pytest.fixture(scope="module")
def psm() -> Arm:
    return load_arm("PSM", "400006")


@pytest.fixture(scope="module")
def plan(psm: Arm) -> Plan:
    speeds = TipSpeeds(0.01, 0.05, 0.5, 2.0)
    ahead = MoveL(se3.make(so3.rot_z(0.3), [0.02, 0.0, 0.0]), "tool", speeds)
    return plan_motion(psm, [ahead], Q, make_motion_limits(psm))


def measured(plan: Plan, lag_s: float, noise: float) -> list[tuple[int, Array]]:
    """States of an arm that follows a plan late, stalls on its way, and is off by some noise.

    Gives stamps (ns) and positions: with one state that came twice, and some from before and after
    the motion.
    """
    random = np.random.default_rng(15)
    times = np.arange(-0.3, plan.duration_s + 0.4, 0.005) + random.uniform(0.0, 1e-3)
    along = np.where(times > 1.0, np.maximum(times - 0.15, 1.0), times) - lag_s
    q = np.array([plan.spline.sample(float(t)).q for t in np.clip(along, 0.0, plan.duration_s)])
    q += noise * random.standard_normal(q.shape)
    stamps = [BEGAN_NS + round(1e9 * t) for t in times.tolist()]
    rows = list(zip(stamps, q, strict=True))
    return [*rows[:200], rows[199], *rows[200:]]


def told_by_the_action(arm: Arm, plan: Plan, rows: list[tuple[int, Array]]) -> FollowingFigures:
    """As the trajectory server makes them of what it heard."""
    spline = plan.spline
    joint_path = JointPath(spline.times, spline.position, spline.velocity, spline.acceleration)
    times = np.array([(stamp_ns - BEGAN_NS) * 1e-9 for stamp_ns, _ in rows])
    q = np.stack([position for _, position in rows])
    return summarise_following([TipFollower(arm, joint_path).follow(times, q)])


def told_by_the_report(
    folder: Path, plan: Plan, rows: list[tuple[int, Array]]
) -> FollowingFigures:
    """As the report makes them of a bag."""
    spline = plan.spline
    recorded: Rows = [("/PSM1/tool_type", 0.0, text("LARGE_NEEDLE_DRIVER:400006[8-9]"))]
    for stamp_ns, q in rows:
        arrived_s = (stamp_ns - at(0.0)) * 1e-9 + 3e-4
        recorded.append(("/PSM1/measured_js", arrived_s, joints(q, stamp_ns)))
    for arrived_s, stamp_ns in ((0.9, 0), (1.3, BEGAN_NS)):
        knots = plan.times_ns * 1e-9
        message = path(knots, spline.position, stamp_ns, velocity=spline.velocity)
        recorded.append((PLAN, arrived_s, message))
    (arm,) = figures_of(write_bag(folder / "bag", recorded)).arms
    (motion,) = arm.motions
    return motion.following


@pytest.mark.parametrize(("lag_s", "noise"), [(0.0, 0.0), (0.012, 0.0), (0.012, 2e-7)])
def test_the_result_of_an_action_and_the_report_of_its_bag_say_the_same(
    tmp_path: Path, psm: Arm, plan: Plan, lag_s: float, noise: float
) -> None:
    rows = measured(plan, lag_s, noise)
    told, shown = told_by_the_action(psm, plan, rows), told_by_the_report(tmp_path, plan, rows)
    assert told.samples == shown.samples > 300
    assert told.lag_max == pytest.approx(lag_s + 0.15, abs=2e-3) and told.lag_mean > lag_s
    assert (told.position_max > 1e-9) == (noise > 0.0)
    # Both count the same nanoseconds from another zero, which leaves rounding.
    assert asdict(shown) == pytest.approx(asdict(told), rel=1e-6, abs=1e-12)
