"""Teaching arms with joints at their limits, where singular postures used to be refused."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.chain import SerialChain
from dvrk_kinematics.kinematics.jacobian import jacobian
from dvrk_kinematics.kinematics.solvers.settler import Settler

ARMS = {name: load_arm(name) for name in ("RVM1", "CYBER310")}
RVM1, CYBER = ARMS.values()


def assert_solved(arm: Arm, q: np.ndarray) -> None:
    """Joint positions (N, n) inside the limits come back from their poses, with a seed or not."""
    T = arm.forward(q)
    for seed in (q, None):
        found = arm.inverse_batch(T, seed=seed)
        assert found.ok.all(), q[~found.ok][:3]
        position_error, rotation_error = se3.pose_error(arm.forward(found.q), T)
        # A joint within 1e-9 rad of its limit is set onto it.
        assert position_error.max() < 1e-9
        assert rotation_error.max() < 2e-9


@pytest.mark.parametrize("name", ARMS)
def test_every_corner_and_middle_of_the_joint_ranges_is_solved(name: str) -> None:
    """Was refused: the straight elbow's rounding put a joint at its limit 4e-8 rad beyond."""
    arm = ARMS[name]
    fraction = np.array(list(product((0.0, 0.5, 1.0), repeat=len(arm.joint_names))))
    assert_solved(arm, arm.limits.lower + fraction * (arm.limits.upper - arm.limits.lower))


@pytest.mark.parametrize("elbow", [0.0, 1e-9, 1e-8, 3e-8, 1e-7, 1e-6, 1e-5])
@pytest.mark.parametrize("wrist", [0.0, np.pi])
def test_an_elbow_that_is_straight_or_nearly_so_leaves_other_joints_at_their_limits(
    elbow: float, wrist: float, rng: np.random.Generator
) -> None:
    q = RVM1.random_q(rng, 300)
    q[:, 2], q[:, 3] = -elbow, wrist
    assert_solved(RVM1, q)


@pytest.mark.parametrize("pitch", [0.0, 1e-10, 1e-8, 1e-7, 1e-6])
def test_so_does_a_wrist(pitch: float, rng: np.random.Generator) -> None:
    q = CYBER.random_q(rng, 300)
    q[:, 4] = pitch
    q[::2, 3], q[1::2, 5] = CYBER.limits.upper[3], CYBER.limits.lower[5]
    assert_solved(CYBER, q)


def test_what_is_really_beyond_a_limit_stays_there() -> None:
    """A regular posture has one answer: 1e-7 rad outside are outside."""
    chain = SerialChain(CYBER.model)
    q = np.array([[0.4, -1.2, 0.6, CYBER.limits.upper[3] + 1e-7, 0.9, -0.5]])
    T = CYBER.forward(q)
    settler = Settler(CYBER.limits, chain.forward, partial(jacobian, chain))
    np.testing.assert_array_equal(settler.settle(T, q), q)
    found = CYBER.inverse_branch(T[0], "left/elbow_up/wrist_up", seed=q[0])
    assert [violation.joint for violation in found.violations] == ["forearm_roll"]
