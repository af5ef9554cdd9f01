"""Goals are planned by the rules that the server was given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dvrk_kinematics_interfaces.action import TraceBlockO

from dvrk_kinematics import load_arm
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.planning.progress import UNWATCHED
from dvrk_kinematics.ros.servers.trajectory_jobs import JobPlanner

PSM = load_arm("PSM", "400006")
START = np.array([0.1, -0.1, 0.12, 0.0, 0.2, 0.1])
QUICK = {"speed": 0.03, "acceleration": 0.08, "angular_speed": 1.5, "angular_acceleration": 3.0}


def _planner(folder: Path, depth_m: float) -> JobPlanner:
    return JobPlanner(
        arm=PSM,
        limits=make_motion_limits(PSM),
        cannula=make_cannula_rule(PSM, depth_m) if depth_m > 0.0 else None,
        find_frame=lambda _: "base",
        folder=folder,
        max_knots=10_000,
    )


@pytest.mark.parametrize("depth_m", [0.0, 0.045, 0.16])
def test_a_figure_is_placed_by_the_rule_that_the_server_has(
    tmp_path: Path, depth_m: float
) -> None:
    goal = TraceBlockO.Goal(scale=0.5, place=True, **QUICK)
    job = _planner(tmp_path, depth_m).read_trace(goal)(START, UNWATCHED)
    assert job.placement is not None
    # The insertion's range is 0.24 m; its margin counts from where the rule is.
    wanted = depth_m + 0.24 * job.placement.margin
    assert job.plan.flight_plan.ok
    rule = make_cannula_rule(PSM)
    assert rule is not None
    lowest = job.plan.spline.position[:, rule.joint].min() + rule.offset_m
    assert lowest >= wanted - 1e-4
