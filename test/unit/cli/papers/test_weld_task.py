"""The weld task of the RV-M1 paper: exact rates along the line, and what the command MS misses."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.cli.papers import weld_report
from dvrk_kinematics.cli.papers.weld_task import (
    WeldTask,
    approximate_weld,
    link_rates,
    off_the_line,
    sample_weld,
)
from dvrk_kinematics.errors import InvalidInput, PlanRefused
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveL
from dvrk_kinematics.motion.planning.planner import plan_motion
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

RVM1 = load_arm("RVM1")
TASK = WeldTask()
MOTION = sample_weld(RVM1, TASK)
MOVED_ASIDE = TASK.poses(np.zeros(1))[0]
MOVED_ASIDE[1, 3] = 0.1
"""The hand parallel to itself, 100 mm to the left: five joints would have to turn it."""


def _joints(dt: float) -> np.ndarray:
    """Joints of the line some time after its samples; it goes on beyond its ends."""
    return RVM1.inverse_batch(TASK.poses((MOTION.t + dt) / MOTION.t[-1])).q


def test_the_task_is_the_papers() -> None:
    assert pytest.approx(0.25) == TASK.length
    assert len(MOTION.t) == 70
    assert MOTION.t[-1] == pytest.approx(0.25 / 0.03589)
    assert MOTION.t[1] == pytest.approx(0.1, abs=1e-3), "about 0.1 s apart, it says"
    tip = RVM1.forward(MOTION.q)
    np.testing.assert_allclose(tip[0, :3, 3], [0.5, 0.0, 0.45], atol=1e-12)
    np.testing.assert_allclose(tip[-1, :3, 3], [0.5, 0.0, 0.2], atol=1e-12)
    np.testing.assert_allclose(tip[:, :3, :3], np.tile(tip[0, :3, :3], (70, 1, 1)), atol=1e-12)


def test_velocities_are_the_derivatives_of_the_joints() -> None:
    h = 1e-3
    difference = (8 * (_joints(h) - _joints(-h)) - (_joints(2 * h) - _joints(-2 * h))) / (12 * h)
    assert np.abs(difference - MOTION.qd).mean() < 1e-9


def test_accelerations_are_their_second_derivatives() -> None:
    h = 1e-2
    near = 16 * (_joints(h) + _joints(-h)) - 30 * MOTION.q
    difference = (near - _joints(2 * h) - _joints(-2 * h)) / (12 * h * h)
    assert np.abs(difference - MOTION.qdd).mean() < 1e-8


def test_forward_again_the_tip_moves_evenly() -> None:
    V = RVM1.twist(MOTION.q, MOTION.qd)
    np.testing.assert_allclose(V, np.tile(TASK.velocity, (70, 1)), atol=1e-14)
    A = RVM1.acceleration(MOTION.q, MOTION.qd, MOTION.qdd)
    np.testing.assert_allclose(A, 0.0, atol=1e-14)


def test_links_turn_in_the_fixed_frame_as_the_paper_sums_them() -> None:
    rates = link_rates(RVM1, MOTION)
    # In the plane y = 0 all axes are -y: w_2 and w_2 + w_3, and the hand does not turn.
    np.testing.assert_allclose(rates.velocity[:, 1, 1], -MOTION.qd[:, 1], atol=1e-15)
    np.testing.assert_allclose(rates.velocity[:, 2, 1], -MOTION.qd[:, 1:3].sum(axis=1), atol=1e-15)
    np.testing.assert_allclose(
        rates.acceleration[:, 2, 1], -MOTION.qdd[:, 1:3].sum(axis=1), atol=1e-15
    )
    np.testing.assert_allclose(rates.velocity[:, 3], 0.0, atol=1e-15)


def test_links_turn_as_their_frames_do_anywhere(rng: np.random.Generator) -> None:
    q, qd, qdd = RVM1.random_q(rng, 20), rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
    motion = MOTION._replace(t=np.zeros(20), q=q, qd=qd, qdd=qdd)
    rates, h = link_rates(RVM1, motion), 1e-5
    ahead, behind = (
        link_rates(RVM1, motion._replace(q=q + s * qd * h, qd=qd + s * qdd * h)).velocity
        for s in (1, -1)
    )
    np.testing.assert_allclose((ahead - behind) / (2 * h), rates.acceleration, atol=1e-6)
    for k, joint in enumerate(RVM1.joint_names):
        R = [RVM1.frames(q + s * qd * h)[f"{joint}_link"][:, :3, :3] for s in (1, -1)]
        turn = so3.log(R[0] @ R[1].swapaxes(1, 2)) / (2 * h)
        np.testing.assert_allclose(turn, rates.velocity[:, k], atol=1e-6)


def test_the_approximation_meets_the_line_at_its_points_and_keeps_the_hand_level() -> None:
    rough = approximate_weld(RVM1, WeldTask(samples=51), 4)
    tip = RVM1.forward(rough.q)
    np.testing.assert_allclose(tip[::10, 0, 3], 0.5, atol=1e-12)
    assert (tip[1:10, 0, 3] > 0.5).all(), "it bows away from the arm"
    np.testing.assert_allclose(tip[:, :3, 2], np.tile([1.0, 0.0, 0.0], (51, 1)), atol=1e-12)


def test_more_points_come_nearer_with_the_square_of_their_number() -> None:
    off = {points: off_the_line(RVM1, TASK, points) for points in (2, 9, 19, 39, 79)}
    assert off[2] == pytest.approx(3.28e-3, abs=0.01e-3)
    assert off[9] / off[19] == pytest.approx(4.0, rel=0.05)
    assert off[39] / off[79] == pytest.approx(4.0, rel=0.01)


def test_the_seam_is_planned_and_proven_as_any_other_line() -> None:
    speeds = TipSpeeds(speed=TASK.speed, acceleration=0.1)
    move = MoveL(TASK.poses(np.ones(1))[0], speeds=speeds)
    plan = plan_motion(RVM1, [move], MOTION.q[0], make_motion_limits(RVM1))
    assert plan.duration_s == pytest.approx(MOTION.t[-1] + TASK.speed / 0.1, abs=0.01)
    assert plan.flight_plan.position_deviation < 1e-6
    np.testing.assert_allclose(plan.spline.position[-1], MOTION.q[-1], atol=1e-9)
    sideways = MoveL(MOVED_ASIDE, speeds=speeds)
    with pytest.raises(PlanRefused):
        plan_motion(RVM1, [sideways], MOTION.q[0], make_motion_limits(RVM1))


@pytest.mark.parametrize("points", [-1, 0, 1, 99, 1000])
def test_the_command_takes_no_other_number_of_points(points: int) -> None:
    with pytest.raises(InvalidInput, match=f"points: must be 2 to 98, is {points}"):
        approximate_weld(RVM1, TASK, points)


@pytest.mark.parametrize("points", [2.5, "4", None])
def test_it_takes_whole_numbers_only(points: object) -> None:
    with pytest.raises(InvalidInput, match="points: must be a whole number, 2 to 98, is "):
        approximate_weld(RVM1, TASK, points)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"speed": 0.0}, "speed: must be finite and above 0 m/s, is 0"),
        ({"speed": -0.1}, "speed: must be finite and above 0 m/s, is -0.1"),
        ({"speed": float("nan")}, "speed: must be finite and above 0 m/s, is nan"),
        ({"samples": 0}, "samples: must be 2 or more, is 0"),
        ({"samples": 1}, "samples: must be 2 or more, is 1"),
        ({"samples": 70.0}, "samples: must be a whole number, 2 or more, is 70.0"),
        ({"end": TASK.start}, "end: is (0.5, 0.0, 0.45) m, as the start; a seam needs two points"),
        ({"end": (0.5, 0.0)}, "end: must be three finite numbers (m), is [0.5, 0.0]"),
        ({"start": (0.5, 0.0, float("inf"))}, "start: must be three finite numbers (m), is [0.5,"),
    ],
)
def test_a_seam_that_makes_no_sense_is_refused_by_name(change, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        WeldTask(**change)


def test_a_seam_out_of_reach_is_refused_with_the_place() -> None:
    with pytest.raises(InvalidInput, match=r"out of reach at 0\.420 of the seam: shoulder would"):
        sample_weld(RVM1, WeldTask(end=(0.5, 0.0, -0.5)))
    with pytest.raises(InvalidInput, match=r"out of reach at 0\.\d+ of the seam: the wrist would"):
        sample_weld(RVM1, WeldTask(end=(0.7, 0.0, 0.2)))


def test_the_report_prints_its_table_and_draws_its_charts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert weld_report.main([]) == 0
    printed = capsys.readouterr().out
    assert "seam of 250 mm in 6.966 s, 70 samples" in printed
    assert "3.2812 mm" in printed
    pytest.importorskip("matplotlib")
    file = tmp_path / "deep" / "weld.png"
    assert weld_report.main(["--output", str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_table_is_printed_and_the_hint_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert weld_report.main(["--output", str(tmp_path / "weld.png")]) == 1
    said = capsys.readouterr()
    assert "command MS" in said.out
    assert "matplotlib is not installed; install requirements/render.txt" in said.err
