"""No random goal yields a plan that, looked at ten times denser, leaves what it promises."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_checks import check_plan

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, PlanRefused
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.motion_limits import make_motion_limits
from dvrk_kinematics.motion.moves import Move, MoveAbsJ, MoveC, MoveJ, MoveL
from dvrk_kinematics.motion.plan import PlanOptions, plan_motion
from dvrk_kinematics.motion.speeds import TipSpeeds

ARMS = {name: load_arm("PSM", instrument=name) for name in ("400006", "400205", "caudier")}
ARMS |= {"ECM": load_arm("ECM")}
SCALINGS = st.sampled_from(["trapezoid", "quintic", "hyperbolic"])


def _nearby(rng: np.random.Generator, reach: float) -> np.ndarray:
    return se3.make(so3.exp(rng.normal(size=3) * 0.5), rng.normal(size=3) * reach)


def _move(rng: np.random.Generator, arm: Arm) -> Move:
    kind = rng.integers(5)
    speeds = TipSpeeds(*10.0 ** rng.uniform([-2.0, -2.0, -1.0, -1.0], [-0.7, 0.0, 1.0, 1.5]))
    fractions = rng.uniform(0.05, 1.0, 2)
    if kind == 0:
        return MoveAbsJ(arm.random_q(rng), *fractions)
    if kind == 1:
        return MoveJ(arm.forward(arm.random_q(rng)), "base", *fractions)
    if kind == 2:
        return MoveL(arm.forward(arm.random_q(rng)), "base", speeds)
    if kind == 3:
        return MoveC(_nearby(rng, 0.02), rng.normal(size=3) * 0.02, "tool", speeds)
    radius = rng.uniform(0.0005, 0.005) if rng.random() < 0.5 else 0.0
    return MoveL(_nearby(rng, 0.02), "tool", speeds, radius)


def _try(arm: Arm, rng: np.random.Generator, moves: list[Move], options: PlanOptions) -> bool:
    """Plan, and check what comes out; False if it was refused."""
    q = arm.random_q(rng)
    limits, rule = make_motion_limits(arm), make_cannula_rule(arm)
    try:
        plan = plan_motion(arm, moves, q, limits, rule, options)
    except PlanRefused as refused:
        assert refused.flight_plan is not None and not refused.flight_plan.ok
        assert 0.0 <= refused.fraction <= 1.0 and refused.distance_m >= 0.0
        return False
    except InvalidInput as error:
        assert error.argument in ("radii", "via", "blend_radius")
        return False
    check_plan(arm, plan, q, options.policy)
    return True


@given(
    name=st.sampled_from(list(ARMS)),
    seed=st.integers(0, 10**9),
    scaling=SCALINGS,
    slow_down=st.booleans(),
)
@settings(max_examples=50)
def test_whatever_is_asked_for_the_plan_keeps_its_promises(
    name: str, seed: int, scaling: str, slow_down: bool
) -> None:
    rng = np.random.default_rng(seed)
    moves = [_move(rng, ARMS[name]) for _ in range(rng.integers(1, 4))]
    _try(ARMS[name], rng, moves, PlanOptions(scaling=scaling, slow_down=slow_down))


def test_many_of_them_are_planned() -> None:
    rng = np.random.default_rng(11)
    arm = ARMS["400006"]
    done = [
        _try(arm, rng, [_move(rng, arm)], PlanOptions(slow_down=bool(k % 2))) for k in range(40)
    ]
    assert sum(done) >= 15


@given(name=st.sampled_from(["400006", "400205", "caudier", "ECM"]), seed=st.integers(0, 10**9))
@settings(max_examples=15)
def test_position_first_keeps_the_same_promises_for_the_position(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    options = PlanOptions(policy="position_first", slow_down=True)
    _try(ARMS[name], rng, [_move(rng, ARMS[name])], options)
