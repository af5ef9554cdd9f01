"""Answers SolveIk for batches, paths, and all branches or a named one, without omitting rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from dvrk_kinematics_interfaces.srv import SolveIk
from numpy.typing import NDArray

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.ros.common.conversions import (
    cp_to_matrices,
    cp_to_rows,
    flat_to_rows,
    to_flat,
)

__all__ = ["Resolve", "solve_ik"]

Resolve = Callable[[Any], Array | None]
"""Maps a header to T_base_frame, shape (4, 4); None for the base itself."""

_POLICIES = {
    SolveIk.Request.POLICY_EXACT: IkPolicy.EXACT,
    SolveIk.Request.POLICY_POSITION_FIRST: IkPolicy.POSITION_FIRST,
}


def solve_ik(arm: Arm, resolve: Resolve, request: Any, response: Any) -> None:
    """Answer inverse kinematics.

    Args:
        arm: The arm.
        resolve: Finds the frame of the poses.
        request: A SolveIk.Request.
        response: Written in place.

    Raises:
        InvalidInput: The arrays do not hold whole rows, or the options are incompatible.
        UnknownName: The arm has no such branch.
        FrameError: The frame cannot be used.
    """
    if request.policy not in _POLICIES:
        raise InvalidInput("policy", f"must be one of {sorted(_POLICIES)}, is {request.policy}")
    policy = _POLICIES[request.policy]
    if request.branch and (request.all_branches or policy is not IkPolicy.EXACT):
        raise InvalidInput("branch", "does not go together with all_branches or position_first")
    T_base_frame = resolve(request.header)
    T, _ = cp_to_matrices(cp_to_rows(request.cp))
    if T_base_frame is not None:
        T = T_base_frame @ T
    seed = _read_seed(arm, request, len(T))
    index: NDArray[Any] = np.arange(len(T))
    bad: Mapping[int, IkResult] = {}
    if request.all_branches:
        result, index = _all_branches(arm, T)
    elif request.is_path or request.branch or len(T) == 1:
        # The batch solver has an overhead that slows down a single pose.
        result, bad = _solve_each(arm, T, seed, _Solving(request, policy))
    else:
        result = arm.inverse_batch(T, seed=seed, policy=policy)
    response.message = _explain(arm, result, index, len(T), bad)
    response.joint_names, response.branch_names, response.lower, response.upper = _constants(arm)
    response.jp = to_flat(result.q)
    response.pose_index = to_flat(index, "I")
    response.status = to_flat(result.status, "B")
    response.violations = to_flat(result.violations, "I")
    response.position_error = to_flat(result.position_error)
    response.rotation_error = to_flat(result.rotation_error)


def _explain(
    arm: Arm, result: BatchIkResult, index: NDArray[Any], poses: int, bad: Mapping[int, IkResult]
) -> str:
    """Explain which poses have no solution inside the limits; empty if all have one.

    Args:
        arm: The arm.
        result: The answer, one solution per row.
        index: Which pose each row solves.
        poses: Number of poses in the request.
        bad: The solver's own results for rows that are not OK, which may hold more detail.
    """
    is_solved = np.zeros(poses, dtype=np.bool_)
    is_solved[index[result.ok]] = True
    if is_solved.all():
        return ""
    pose = int(np.argmin(is_solved))
    rows = np.flatnonzero(index == pose)
    why = f"{IkStatus.UNREACHABLE}: there is no solution"
    if len(rows):
        row = int(rows[0])
        one = bad.get(row) or result.row(row, arm.limits)
        why = f"{one.status}: {one.reason}"
    if poses == 1:
        return why
    count = poses - int(is_solved.sum())
    return f"{count} of {poses} poses are not OK; the first of them is pose {pose}, {why}"


@lru_cache
def _constants(arm: Arm) -> tuple[list[str], list[str], Any, Any]:
    """The constant part of the answers for an arm; cached, since solving one pose is fast."""
    limits = arm.limits
    return (
        list(arm.joint_names),
        list(arm.branch_names),
        to_flat(limits.lower),
        to_flat(limits.upper),
    )


class _Solving:
    """Solves the poses of a request one by one."""

    def __init__(self, request: Any, policy: IkPolicy) -> None:
        self.is_path = bool(request.is_path)
        self._branch = str(request.branch)
        self._policy = policy

    def solve(self, arm: Arm, pose: Array, seed: Array | None) -> IkResult:
        """Solve one pose, shape (4, 4), near a seed, shape (n,)."""
        if self._branch:
            return arm.inverse_branch(pose, self._branch, seed)
        return arm.inverse(pose, seed=seed, policy=self._policy)


def _read_seed(arm: Arm, request: Any, poses: int) -> Array | None:
    joints = len(arm.joint_names)
    if not request.seed:
        return None
    rows = flat_to_rows(request.seed, joints, "seed")
    if len(rows) == 1:
        return np.asarray(rows[0])
    if len(rows) != poses or request.is_path:
        allowed = f"{joints} numbers" + ("" if request.is_path else f" or {poses} x {joints}")
        raise InvalidInput("seed", f"{rows.size} numbers, must be none, {allowed}")
    return rows


def _solve_each(
    arm: Arm, T: Array, seed: Array | None, solving: _Solving
) -> tuple[BatchIkResult, dict[int, IkResult]]:
    """Solve pose by pose, and also return the results that are not OK, by row.

    On a path each solution is the seed of the next, except for rows that are not valid poses.
    """
    result = BatchIkResult.empty(len(T), len(arm.joint_names))
    near, bad = seed, {}
    for i, pose in enumerate(T):
        if np.isfinite(pose).all():
            solved = solving.solve(arm, pose, near if near is None or near.ndim == 1 else near[i])
            _store(arm, result, i, solved)
            if solving.is_path and np.isfinite(solved.q).all():
                near = solved.q
            if not solved.ok:
                bad[i] = solved
    return result, bad


def _all_branches(arm: Arm, T: Array) -> tuple[BatchIkResult, NDArray[Any]]:
    found = [
        (i, solved)
        for i, pose in enumerate(T)
        for solved in (arm.inverse_all(pose) if np.isfinite(pose).all() else [None])
    ]
    result = BatchIkResult.empty(len(found), len(arm.joint_names))
    for row, (_, solved) in enumerate(found):
        if solved is not None:
            _store(arm, result, row, solved)
    return result, np.array([i for i, _ in found], dtype=np.uint32)


def _store(arm: Arm, result: BatchIkResult, row: int, solved: IkResult) -> None:
    result.q[row], result.status[row] = solved.q, solved.status
    outside = {violation.joint for violation in solved.violations}
    result.violations[row] = sum(
        1 << i for i, name in enumerate(arm.joint_names) if name in outside
    )
    result.position_error[row] = solved.position_error
    result.rotation_error[row] = solved.rotation_error
