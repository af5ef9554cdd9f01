"""No random goal yields a plan that, looked at ten times denser, leaves what it promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_checks import check_plan

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, PlanRefused
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.figures.block_o import BLOCK_O, trace_figure
from dvrk_kinematics.motion.figures.figure import Figure
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import Move, MoveAbsJ, MoveC, MoveJ, MoveL, repeat_moves
from dvrk_kinematics.motion.planning.planner import PlanOptions, plan_motion
from dvrk_kinematics.motion.segments import Segment
from dvrk_kinematics.motion.timing.logistic import Curve
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

ARMS = {name: load_arm("PSM", instrument=name) for name in ("400006", "400205", "caudier")}
ARMS |= {"ECM": load_arm("ECM")}
SCALINGS = st.sampled_from(["trapezoid", "quintic", "hyperbolic", "normalised"])
SEEDS = st.integers(0, 10**9)
NAMES = st.sampled_from(list(ARMS))
FIGURES = (BLOCK_O, Figure("triangle", np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 0.2]])))


def _nearby(rng: np.random.Generator, reach: float) -> np.ndarray:
    return se3.make(so3.exp(rng.normal(size=3) * 0.5), rng.normal(size=3) * reach)


def _speeds(rng: np.random.Generator, scaling: str) -> TipSpeeds:
    """From slow to too fast; of a fraction of the path where the scaling has it so."""
    if scaling == "normalised":
        return TipSpeeds(*10.0 ** rng.uniform([-0.5, 0.0, -0.5, 0.0], [0.7, 1.5, 0.7, 1.5]))
    return TipSpeeds(*10.0 ** rng.uniform([-2.0, -2.0, -1.0, -1.0], [-0.7, 0.0, 1.0, 1.5]))


def _curves(rng: np.random.Generator, count: int) -> tuple[Curve, ...]:
    """A shape for each joint, from gentle to nearly a step."""
    centres = rng.uniform(0.05, 0.95, count)
    widths = rng.uniform(0.05, 0.98, count) * np.maximum(centres, 1.0 - centres)
    return tuple(map(Curve, centres, widths, 10.0 ** rng.uniform(-4.0, -0.5, count)))


def _move(rng: np.random.Generator, arm: Arm, scaling: str = "trapezoid") -> Move:
    kind = rng.integers(6)
    speeds = _speeds(rng, scaling)
    fractions = rng.uniform(0.05, 1.0, 2)
    if kind == 0:
        return MoveAbsJ(arm.random_q(rng), *fractions)
    if kind == 1:
        return MoveJ(arm.forward(arm.random_q(rng)), "base", *fractions)
    if kind == 2:
        return MoveL(arm.forward(arm.random_q(rng)), "base", speeds)
    if kind == 3:
        return MoveC(_nearby(rng, 0.02), rng.normal(size=3) * 0.02, "tool", speeds)
    if kind == 4:
        curves = _curves(rng, len(arm.joint_names))
        return MoveAbsJ(arm.random_q(rng), *rng.uniform(0.3, 1.0, 2), curves)
    radius = rng.uniform(0.0005, 0.005) if rng.random() < 0.5 else 0.0
    return MoveL(_nearby(rng, 0.02), "tool", speeds, radius)


def _start_outside(rng: np.random.Generator, arm: Arm) -> np.ndarray:
    """Joint positions of which some are beyond a limit, by up to a twentieth of the range."""
    q, span = arm.random_q(rng), arm.limits.upper - arm.limits.lower
    beyond = rng.uniform(0.0, 0.05, len(q)) * span
    out = np.where(rng.random(len(q)) < 0.5, arm.limits.lower - beyond, arm.limits.upper + beyond)
    return np.where(rng.random(len(q)) < 0.3, out, q)


def _try(
    arm: Arm, motion: Sequence[Move] | Sequence[Segment], q: np.ndarray, options: PlanOptions
) -> bool:
    """Plan, and check what comes out; False if it was refused."""
    limits, rule = make_motion_limits(arm), make_cannula_rule(arm)
    try:
        plan = plan_motion(arm, motion, q, limits, rule, options)
    except PlanRefused as refused:
        assert refused.flight_plan is not None and not refused.flight_plan.ok
        assert 0.0 <= refused.fraction <= 1.0 and refused.distance_m >= 0.0
        return False
    except InvalidInput as error:
        assert error.argument in ("radii", "via", "blend_radius", "motion")
        return False
    check_plan(arm, plan, q, options.policy)
    return True


@given(name=NAMES, seed=SEEDS, scaling=SCALINGS, slow_down=st.booleans(), repeat=st.integers(1, 2))
@settings(max_examples=60)
def test_whatever_is_asked_for_the_plan_keeps_its_promises(
    name: str, seed: int, scaling: str, slow_down: bool, repeat: int
) -> None:
    rng, arm = np.random.default_rng(seed), ARMS[name]
    moves = [_move(rng, arm, scaling) for _ in range(rng.integers(1, 4))]
    options = PlanOptions(scaling=scaling, slow_down=slow_down)
    _try(arm, repeat_moves(moves, repeat), arm.random_q(rng), options)


@given(name=NAMES, seed=SEEDS, scaling=SCALINGS)
@settings(max_examples=40)
def test_from_outside_the_limits_it_only_comes_back(name: str, seed: int, scaling: str) -> None:
    rng, arm = np.random.default_rng(seed), ARMS[name]
    moves = [_move(rng, arm, scaling) for _ in range(rng.integers(1, 4))]
    options = PlanOptions(scaling=scaling, slow_down=True)
    _try(arm, moves, _start_outside(rng, arm), options)


@given(seed=SEEDS, figure=st.sampled_from(FIGURES), scaling=SCALINGS, slow_down=st.booleans())
@settings(max_examples=10)
def test_a_figure_anywhere_keeps_the_same_promises(
    seed: int, figure: Figure, scaling: str, slow_down: bool
) -> None:
    rng, arm = np.random.default_rng(seed), ARMS["400006"]
    T = se3.make(so3.exp(rng.normal(size=3) * [0.2, 0.2, 2.0]), rng.normal(size=3) * 0.03)
    T[2, 3] -= 0.15
    speeds = TipSpeeds(*10.0 ** rng.uniform([-1.5, -1.0, 0.0, 0.5], [-0.7, 0.5, 1.0, 1.5]))
    speeds = _speeds(rng, scaling) if scaling == "normalised" else speeds
    segments = trace_figure(figure, T, rng.uniform(0.02, 0.3), speeds, scaling=scaling)
    first = arm.inverse(segments[0].pose(np.zeros(1))[0])
    if first.ok:
        _try(arm, segments, first.q, PlanOptions(scaling=scaling, slow_down=slow_down))


def test_many_of_them_are_planned() -> None:
    rng = np.random.default_rng(11)
    arm = ARMS["400006"]
    done = [
        _try(arm, [_move(rng, arm)], arm.random_q(rng), PlanOptions(slow_down=bool(k % 2)))
        for k in range(40)
    ]
    assert sum(done) >= 15


def test_many_come_back_from_outside() -> None:
    rng = np.random.default_rng(12)
    arm = ARMS["400006"]
    starts = [_start_outside(rng, arm) for _ in range(40)]
    outside = [q for q in starts if not arm.limits.contains(q)]
    options = PlanOptions(slow_down=True)
    done = [_try(arm, [MoveAbsJ(arm.random_q(rng), 1.0, 1.0)], q, options) for q in outside]
    assert len(outside) >= 20 and all(done)


@given(name=NAMES, seed=SEEDS)
@settings(max_examples=15)
def test_position_first_keeps_the_same_promises_for_the_position(name: str, seed: int) -> None:
    rng, arm = np.random.default_rng(seed), ARMS[name]
    options = PlanOptions(policy="position_first", slow_down=True)
    _try(arm, [_move(rng, arm)], arm.random_q(rng), options)
