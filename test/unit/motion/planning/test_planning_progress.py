"""Planning tells how far it is, and can be ended at any moment; a plan is the same for it.

``DVRK_CAMPAIGN=50`` makes the campaign fifty times as long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import count, pairwise

import numpy as np
import pytest
import test_random_motions as motions

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import DvrkError, PlanningCancelled, PlanningTimeout, PlanRefused
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.kinematics.solvers.psm.wrist_search import WristSearch
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.figures.block_o import BLOCK_O
from dvrk_kinematics.motion.figures.figure import Figure
from dvrk_kinematics.motion.figures.place_search import _largest_margin
from dvrk_kinematics.motion.figures.placement import place
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveJ, MoveL
from dvrk_kinematics.motion.planning.planner import PlanOptions, plan_motion
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress, PlanningWatch
from dvrk_kinematics.motion.programs.program import Program, plan_recording
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

CAMPAIGN = round(12 * float(os.environ.get("DVRK_CAMPAIGN", "1")))
ANSWER_S = 0.2
"""Within so much of its own time planning answers. What others take of the machine is not its."""
START = np.array([0.1, -0.1, 0.12, 0.0, 0.2, 0.1])

Work = Callable[[PlanningProgress], object]


def _ring(arm: Arm, corners: int, radius: float = 0.0) -> list[MoveL]:
    """Lines from corner to corner around a circle, the corners rounded or not."""
    T = arm.forward(START)
    turns = np.arange(corners) * 0.3
    poses = [T @ se3.translation([0.01 * np.cos(a), 0.01 * np.sin(a), 0.0]) for a in turns]
    return [*(MoveL(pose, blend_radius=radius) for pose in poses[:-1]), MoveL(poses[-1])]


def _plan(arm: Arm, moves: object, q: np.ndarray = START, **options: object) -> Work:
    limits, rule = make_motion_limits(arm), make_cannula_rule(arm)
    chosen = PlanOptions(**options)  # type: ignore[arg-type]
    return lambda progress: plan_motion(arm, moves, q, limits, rule, chosen, progress=progress)  # type: ignore[arg-type]


def _random_work(seed: int) -> Work:
    """Something to plan: moves of all kinds, some with orientation given up, or a figure."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(motions.ARMS)))
    arm = motions.ARMS[name]
    if seed % 4 == 0:
        corners = int(rng.integers(3, 8))
        turns = np.arange(corners) * 2.0 * np.pi / corners
        figure = Figure("polygon", 0.01 * np.stack([np.cos(turns), np.sin(turns)], axis=1))
        return lambda progress: place(motions.ARMS["400006"], figure, 1.0, progress=progress)
    if seed % 4 == 1:
        arm = motions.ARMS["400006"]
        return _plan(arm, _ring(arm, int(rng.integers(20, 100)), float(rng.choice([0.0, 5e-4]))))
    moves = [motions._move(rng, arm) for _ in range(rng.integers(1, 4))]
    policy = "position_first" if seed % 4 == 2 else "exact"
    return _plan(arm, moves, arm.random_q(rng), policy=policy, slow_down=True)


def _cancel_after(work: Work, cpu_s: float) -> float | None:
    """Cancel planning after a time of its own; how long it went on (s), None if it was done."""
    begun = time.thread_time()
    watch = PlanningWatch(
        lambda: "cancelled" if time.thread_time() - begun > cpu_s else "", clock=time.thread_time
    )
    try:
        work(watch.progress)
    except PlanningCancelled as error:
        assert error.reason == "cancelled" and 0.0 <= error.fraction <= 1.0
        return time.thread_time() - begun - cpu_s
    except DvrkError:
        return None
    return None


def test_random_motions_cancelled_at_random_moments_answer_at_once() -> None:
    rng, cancelled = np.random.default_rng(20), 0
    for seed in range(CAMPAIGN):
        work = _random_work(seed)
        late = _cancel_after(work, float(10.0 ** rng.uniform(-3.0, -0.5)))
        if late is not None:
            cancelled += 1
            assert late < ANSWER_S, seed
    assert cancelled >= CAMPAIGN // 4


@pytest.mark.parametrize("scale", [1.0, None])
def test_400_corners_can_be_cancelled(psm: Arm, scale: float | None) -> None:
    """Took 40 s and more without an answer."""
    turns = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    figure = Figure("ring", 0.03 * np.stack([np.cos(turns), np.sin(turns)], axis=1))
    for cpu_s in (0.1, 0.7):
        late = _cancel_after(lambda progress: place(psm, figure, scale, progress=progress), cpu_s)
        assert late is not None and late < ANSWER_S


def test_5000_steps_can_be_cancelled(psm: Arm) -> None:
    """Took 40 s and more without an answer."""
    quick = TipSpeeds(1.0, 10.0, 10.0, 100.0)
    moves = [MoveL(move.T, speeds=quick) for move in _ring(psm, 5000)]
    for cpu_s in (0.05, 0.9):
        late = _cancel_after(_plan(psm, moves, slow_down=True), cpu_s)
        assert late is not None and late < ANSWER_S


def test_an_hour_at_one_go_can_be_cancelled(psm: Arm) -> None:
    moves = [MoveL(se3.translation([0.03, 0.0, 0.0]), "tool", TipSpeeds(1e-5, 1.0))]
    for cpu_s in (0.2, 0.8):
        late = _cancel_after(_plan(psm, moves), cpu_s)
        assert late is not None and late < ANSWER_S


def test_looking_for_the_place_of_a_snake_can_be_cancelled() -> None:
    """Takes a minute."""
    snake = load_arm("PSM", instrument="400117")
    late = _cancel_after(lambda progress: place(snake, BLOCK_O, 0.5, progress=progress), 0.5)
    assert late is not None and late < ANSWER_S


def test_planning_that_takes_too_long_is_refused_in_words(psm: Arm) -> None:
    ticks = count()
    watch = PlanningWatch(allowed_s=30.0, clock=lambda: float(next(ticks)))
    with pytest.raises(PlanningTimeout) as refused:
        _plan(psm, _ring(psm, 60))(watch.progress)
    assert refused.value.allowed_s == 30.0 and 0.0 < refused.value.fraction < 1.0
    assert str(refused.value).startswith("was not planned within 30 s (")
    assert "% done); ask for fewer" in str(refused.value)


def test_the_reason_of_a_cancel_is_told(psm: Arm) -> None:
    watch = PlanningWatch(lambda: "the server ends", clock=iter(map(float, count())).__next__)
    with pytest.raises(PlanningCancelled, match="the server ends while it was planned") as ended:
        _plan(psm, _ring(psm, 3))(watch.progress)
    assert ended.value.fraction == 0.0


@pytest.mark.parametrize("seed", range(4, 10))
def test_a_plan_that_is_watched_is_the_same_to_the_last_bit(seed: int) -> None:
    told: list[float] = []
    watch = PlanningWatch(tell=told.append, clock=iter(map(float, count())).__next__)
    work = _random_work(seed)
    results = []
    for progress in (UNWATCHED, watch.progress):
        try:
            results.append(work(progress))
        except DvrkError as error:
            results.append(str(error))
    alone, watched = results
    if hasattr(alone, "spline"):
        assert alone.times_ns.tobytes() == watched.times_ns.tobytes()
        for part in ("position", "velocity", "acceleration"):
            one, other = (getattr(plan.spline, part) for plan in results)
            assert (one is None and other is None) or one.tobytes() == other.tobytes()
        assert alone.flight_plan == watched.flight_plan
    elif hasattr(alone, "q_start"):
        assert alone.T_base_figure.tobytes() == watched.T_base_figure.tobytes()
        assert alone.q_start.tobytes() == watched.q_start.tobytes()
    else:
        assert alone == watched
    assert all(0.0 <= one <= other <= 1.0 for one, other in pairwise(told))


def test_progress_grows_with_the_work(psm: Arm) -> None:
    told: list[float] = []
    watch = PlanningWatch(tell=told.append, clock=iter(map(float, count())).__next__)
    _plan(psm, [*_ring(psm, 40), MoveJ(psm.forward(START))])(watch.progress)
    assert len(told) > 40 and told[-1] > 0.9
    assert all(later - one < 0.2 for one, later in pairwise(told))


def test_a_replay_is_watched_too(psm: Arm) -> None:
    watch = PlanningWatch(lambda: "cancelled", clock=iter(map(float, count())).__next__)
    recording = Program("ring", psm.joint_names, tuple(_ring(psm, 3)))
    with pytest.raises(PlanningCancelled):
        plan_recording(psm, recording, START, make_motion_limits(psm), progress=watch.progress)


def test_what_lies_beyond_a_jump_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans of position_first took minutes before they were refused as a jump."""
    searched: list[int] = []
    minimise = WristSearch.minimise

    def count_poses(self: WristSearch, poses: np.ndarray, starts: np.ndarray) -> object:
        searched.append(len(poses))
        return minimise(self, poses, starts)

    monkeypatch.setattr(WristSearch, "minimise", count_poses)
    rng, arm = np.random.default_rng(396), motions.ARMS["400006"]
    moves = [motions._move(rng, arm)]
    with pytest.raises(PlanRefused, match="jump, roll"):
        _plan(arm, moves, arm.random_q(rng), policy="position_first", slow_down=True)(UNWATCHED)
    assert searched[-1] == 4, "the sample at which it jumps, and hardly any after it"


def test_few_rows_of_a_large_program_give_the_answer_of_all() -> None:
    rng = np.random.default_rng(5)
    bound = np.array([0.02, 0.02, 0.02, 0.5])
    for rows in (20_000, 50_000):
        gradient, room = rng.normal(size=(rows, 4)), rng.uniform(0.05, 1.0, rows)
        step = _largest_margin(gradient, room, bound)
        margin = float((room + gradient @ step).min())
        worst = np.argsort(room + gradient @ step)[:16_000]
        exact = _largest_margin(gradient[worst], room[worst], bound)
        assert (np.abs(step) <= bound + 1e-12).all()
        assert margin == pytest.approx(float((room + gradient @ exact).min()), abs=1e-8)


def test_parts_and_attempts_fill_the_whole() -> None:
    watch = PlanningWatch()
    whole = watch.progress
    half = whole.part(0.5, 1.0).part(0.0, 0.5)
    assert (half.begin, half.share) == (0.5, 0.25)
    tries = [whole.attempt(number, 0.6) for number in range(3)]
    assert [one.begin for one in tries] == pytest.approx([0.0, 0.6, 0.84])
    assert all(
        one.begin + one.share == pytest.approx(after.begin) for one, after in pairwise(tries)
    )
    half.step(1, 1)
    whole.step(0, 0)
    assert watch.fraction == 1.0
    whole.step(1, 4)
    assert watch.fraction == 1.0, "it never falls"
    UNWATCHED.part(0.0, 0.5).step(1, 2)
