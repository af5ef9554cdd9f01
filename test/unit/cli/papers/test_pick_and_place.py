"""Pick and place of the CYBER 310 paper: curves per joint, and an obstacle in the way."""

from __future__ import annotations

import dataclasses
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.cli.papers import obstacle_report
from dvrk_kinematics.cli.papers.obstacle_report import CENTRES
from dvrk_kinematics.cli.papers.pick_and_place import (
    ARM_RADIUS_M,
    PickAndPlace,
    Post,
    clearance,
    curve_joints,
    solve_ends,
)
from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveAbsJ
from dvrk_kinematics.motion.planning.planner import plan_motion
from dvrk_kinematics.motion.timing.logistic import Curve

CYBER = load_arm("CYBER310")
TASK = PickAndPlace()


def test_the_ends_are_reached_by_the_branch_that_was_named() -> None:
    for q, position in zip(solve_ends(CYBER, TASK), (TASK.pick, TASK.place), strict=True):
        T = CYBER.forward(q)
        np.testing.assert_allclose(T[:3, 3], position, atol=1e-12)
        np.testing.assert_allclose(T[:3, 2], [0.0, 0.0, -1.0], atol=1e-12)
        assert np.sin(q[4]) < 0.0, "wrist down"


@pytest.mark.parametrize("name", CENTRES)
def test_every_move_is_inside_limits_speeds_and_accelerations(name: str) -> None:
    motion = curve_joints(CYBER, TASK, CENTRES[name], samples=4001)
    limits = make_motion_limits(CYBER)
    assert CYBER.limits.contains(motion.q).all()
    assert (np.abs(motion.qd) <= limits.velocity).all()
    assert (np.abs(motion.qdd) <= limits.acceleration).all()
    start, end = solve_ends(CYBER, TASK)
    np.testing.assert_allclose(motion.q[[0, -1]], [start, end], atol=1e-12)
    np.testing.assert_allclose(motion.qd[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(motion.qdd[[0, -1]], 0.0, atol=1e-12)


def test_rates_are_the_derivatives_of_the_positions() -> None:
    motion = curve_joints(CYBER, TASK, CENTRES["first up, then round"], samples=20_001)
    step = motion.t[1]
    np.testing.assert_allclose(np.gradient(motion.q, step, axis=0), motion.qd, atol=1e-5)
    np.testing.assert_allclose(np.gradient(motion.qd, step, axis=0), motion.qdd, atol=1e-4)


def test_joints_have_done_half_of_their_way_at_their_centres() -> None:
    motion = curve_joints(CYBER, TASK, CENTRES["first up, then round"], samples=1001)
    start, end = motion.q[0], motion.q[-1]
    np.testing.assert_allclose(motion.q[300, 1], (start[1] + end[1]) / 2, atol=1e-9)
    np.testing.assert_allclose(motion.q[700, 0], (start[0] + end[0]) / 2, atol=1e-9)


def test_the_straight_joint_move_hits_the_post_and_other_centres_go_over_it() -> None:
    gaps = {
        name: clearance(CYBER, curve_joints(CYBER, TASK, centres, 2001).q, TASK.post)
        for name, centres in CENTRES.items()
    }
    assert gaps["all joints together"].min() < -0.03
    assert gaps["first round, then up"].min() < -0.02
    assert gaps["first up, then round"].min() > 0.027
    for gap in gaps.values():
        assert min(gap[0], gap[-1]) > 0.1, "both ends are free"


def test_the_move_around_the_post_is_planned_and_proven_as_any_other() -> None:
    start, end = solve_ends(CYBER, TASK)
    centres = CENTRES["first up, then round"]
    curves = tuple(Curve(centre, TASK.half_width, TASK.delta) for centre in centres)
    move = MoveAbsJ(end, speed=1.0, acceleration=1.0, curves=curves)
    plan = plan_motion(CYBER, [move], start, make_motion_limits(CYBER))
    assert plan.duration_s < TASK.duration_s
    times = np.linspace(0.0, plan.duration_s, 500)
    q = np.array([plan.spline.sample(float(t))[0] for t in times])
    assert clearance(CYBER, q, TASK.post).min() > 0.027


def test_the_distance_is_that_of_finely_sampled_rods(rng: np.random.Generator) -> None:
    share = np.linspace(0.0, 1.0, 801)[:, None]
    for q in CYBER.random_q(rng, 30):
        post = Post(*rng.uniform([-0.4, -0.4], 0.4), rng.uniform(0.05, 0.5), 0.02)
        frames = CYBER.frames(q)
        joints = [frames[f"{k}_link"][:3, 3] for k in ("waist", "elbow", "forearm_roll")]
        joints.append(frames["tip"][:3, 3])
        nearest = np.inf
        for a, b in pairwise(joints):
            rod = a + share * (b - a)
            over = np.clip(rod[:, 2], 0.0, post.height)
            apart = rod - np.column_stack([np.tile([post.x, post.y], (801, 1)), over])
            nearest = min(nearest, np.linalg.norm(apart, axis=1).min())
        expected = nearest - post.radius - ARM_RADIUS_M
        assert clearance(CYBER, q[None], post)[0] == pytest.approx(expected, abs=2e-4)
        assert clearance(CYBER, q[None], post)[0] <= expected + 1e-12


def test_what_makes_no_sense_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="centres: needs 6 numbers, has 2"):
        curve_joints(CYBER, TASK, [0.5, 0.5])
    with pytest.raises(InvalidInput, match="centre: must be within"):
        curve_joints(CYBER, TASK, [1.5] * 6)
    with pytest.raises(UnknownName, match="left/elbow_up/wrist_up"):
        solve_ends(CYBER, dataclasses.replace(TASK, branch="upside down"))
    with pytest.raises(InvalidInput, match=r"place: .* does not reach it: the wrist would have"):
        solve_ends(CYBER, dataclasses.replace(TASK, place=(0.9, 0.0, 0.1)))
    with pytest.raises(InvalidInput, match=r"pick: .*: forearm_roll would be 3\.1416, allowed"):
        solve_ends(CYBER, dataclasses.replace(TASK, branch="left/elbow_down/wrist_up"))


def test_the_report_prints_its_table_and_draws_its_charts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib", None)
        assert obstacle_report.main(["--output", str(tmp_path / "post.png")]) == 1
    said = capsys.readouterr()
    assert "27.5 mm" in said.out and "hits it" in said.out
    assert "install requirements/render.txt" in said.err
    pytest.importorskip("matplotlib")
    file = tmp_path / "post.png"
    assert obstacle_report.main(["--output", str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")
