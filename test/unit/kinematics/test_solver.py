"""What every inverse kinematics offers, whatever it can do itself."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.kinematics.result import IkPolicy
from dvrk_kinematics.kinematics.solvers.solver import IkSolver

ARMS = {
    "psm": load_arm("PSM"),
    "shifted psm": load_arm("PSM", zero="controller"),
    "snake": load_arm("PSM", instrument="400117"),
    "ecm": load_arm("ECM"),
    "five_axis": load_arm("RVM1"),
    "spherical_wrist": load_arm("CYBER310"),
    "numeric": load_arm("MTML"),
}


@pytest.fixture(params=ARMS)
def arm(request: pytest.FixtureRequest) -> Arm:
    return ARMS[request.param]


def test_every_solver_has_the_whole_interface(arm: Arm, rng: np.random.Generator) -> None:
    q = arm.random_q(rng)
    T, solver = arm.forward(q), arm.solver
    assert isinstance(solver, IkSolver) and solver.limits is arm.limits
    assert solver.is_closed_form == (arm is not ARMS["numeric"])
    one, rows = solver.solve(T, q.tolist()), solver.solve_floats(T.tolist(), q.tolist())
    np.testing.assert_array_equal(one.q, rows.q)
    assert one.ok and one.status is rows.status
    assert solver.solve_batch(T[None], q).ok.all()
    assert not one.q.flags.writeable


def test_quick_matrices_are_those_of_the_chain(arm: Arm, rng: np.random.Generator) -> None:
    q = arm.random_q(rng, 5)
    forward, jacobian = arm.solver.forward_floats, arm.solver.jacobian_floats
    for row, T, J in zip(q, arm.forward(q), arm.jacobian(q), strict=True):
        if forward is not None:
            np.testing.assert_allclose(forward(row.tolist()), T, atol=1e-14)
        if jacobian is not None:
            np.testing.assert_allclose(jacobian(row.tolist()), J, atol=1e-14)


def test_a_branch_is_one_of_those_that_are_named(arm: Arm, rng: np.random.Generator) -> None:
    T = arm.forward(arm.random_q(rng))
    with pytest.raises(UnknownName, match="branch"):
        arm.solver.solve_branch(T, "sideways")
    if arm.branch_names:
        every = arm.solver.solve_all(T)
        for name, result in zip(arm.branch_names, every, strict=True):
            assert arm.solver.solve_branch(T, name).status is result.status


def test_near_is_position_first(arm: Arm, rng: np.random.Generator) -> None:
    q = arm.random_q(rng)
    T = arm.forward(q)[None]
    try:
        arm.solver.solve_batch(T, q, IkPolicy.POSITION_FIRST)
    except InvalidInput as refused:
        with pytest.raises(InvalidInput, match=str(refused)):
            arm.solver.solve_near(T, q)
        return
    assert arm.solver.solve_near(T, q).ok.all()
