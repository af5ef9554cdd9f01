"""A walk of the tip along a line: exact, since each step moves the pose itself and solves for it.

No errors accumulate that way, and the commanded tip stays on the requested line.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from dvrk_kinematics.driver.jog.jog_command import JogSpace
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.rates import solve_rates

__all__ = ["TipWalk", "find_unwalkable", "rigid_motion"]

_FULL = 6
"""Degrees of freedom of a pose, and so the joints needed to follow all of it."""
_JUMP = 0.5
"""Joint positions farther than this (rad, m) from where the way leads belong to another way."""
_REFINEMENTS = 6
"""Largest number of steps of Newton's method."""
_SOLVED = 1e-11
"""Pose errors (m, rad) up to this are rounding."""
_EQUAL = 1e-6
"""Joint positions that differ by no more than this (rad, m) are the same."""
_PROBE_S = 1e-4
"""Time step for rates from differences, where the Jacobian yields none."""


class TipWalk:
    """A walk of the tip, straight or turning, along the axes of the base or of the tip.

    An arm with fewer than six joints cannot follow all of a pose. Then the position keeps to the
    line, and the orientation is the nearest one that the arm can reach.

    Args:
        arm: An arm with inverse kinematics in closed form.
        q: Where it begins (rad, m), shape (n,).
        space: BASE or TOOL.
    """

    def __init__(self, arm: Arm, q: Array, space: JogSpace) -> None:
        self.q = q
        self._arm = arm
        self._T_base_tip = arm.forward(q)
        self._is_along_tip = space is JogSpace.TOOL
        self._is_full = len(q) >= _FULL
        # For a tip that cannot follow its pose, each command reads the axes anew instead.
        self._is_tool = self._is_along_tip and self._is_full

    @property
    def T_base_tip(self) -> Array:
        """Where the tip is commanded to be, shape (4, 4)."""
        return self._T_base_tip

    def understand(self, velocity: Array) -> tuple[Array, float]:
        """Leave out turns that the arm cannot make while its tip stays on the line."""
        if self._is_full:
            return velocity, 0.0
        linear, angular = velocity[:3], velocity[3:]
        if self._is_along_tip:
            R = self._arm.forward(self.q)[:3, :3]
            linear, angular = R @ linear, R @ angular
        J = self._arm.jacobian(self.q)
        # How the joints can change the orientation without moving the tip.
        turns = J[3:] @ np.linalg.svd(J[:3])[2][3:].T
        possible = turns @ np.linalg.lstsq(turns, angular, rcond=None)[0]
        left_out = float(np.linalg.norm(angular - possible))
        return np.concatenate([linear, possible]), left_out

    def rates(self, velocity: Array) -> Array:
        """Joint velocities along the line."""
        if len(self.q) == _FULL:
            R = self._T_base_tip[:3, :3]
            twist = (
                np.concatenate([R @ velocity[:3], R @ velocity[3:]]) if self._is_tool else velocity
            )
            J = self._arm.jacobian(self.q)
            try:
                return np.asarray(np.linalg.solve(J, twist))
            except np.linalg.LinAlgError:
                return solve_rates(J, twist).rate
        here = self.q
        after = self._solve(self._move(self._T_base_tip, velocity, _PROBE_S), here)
        before = self._solve(self._move(self._T_base_tip, velocity, -_PROBE_S), here)
        if after is None or before is None:
            return solve_rates(self._arm.jacobian(here), velocity).rate
        return (after - before) / (2.0 * _PROBE_S)

    def ahead(self, velocity: Array, rates: Array, spacing_s: float, count: int) -> Array:
        """Positions along the line."""
        motion = rigid_motion(velocity.tolist(), spacing_s, self._is_tool)
        poses = [self._T_base_tip]
        for _ in range(count):
            poses.append(self._apply(poses[-1], motion))
        rows, misses = [self.q], 0.0
        for T in poses[1:]:
            found = self._arm.inverse(T, seed=rows[-1])
            rows.append(found.q)
            misses += found.position_error
        way = np.array(rows)
        steps = way[1:] - way[:-1]
        is_one_way = np.abs(steps[0] - rates * spacing_s).max() < _JUMP
        if is_one_way and np.abs(steps[1:] - steps[:-1]).max() < _JUMP and misses < _SOLVED:
            return way
        return self._follow(poses, rates * spacing_s)

    def _follow(self, poses: list[Array], step: Array) -> Array:
        """Solve poses one after the other where the solver would change to another way."""
        rows = [self.q]
        for T in poses[1:]:
            q = self._solve(T, rows[-1] + step)
            if q is None:
                break
            step = q - rows[-1]
            rows.append(q)
        return np.array(rows)

    def advance(self, velocity: Array, rates: Array, step_s: float) -> bool:
        """Go on along the line."""
        T = self._move(self._T_base_tip, velocity, step_s)
        q = self._solve(T, self.q + rates * step_s)
        if q is None:
            return False
        self.q, self._T_base_tip = q, T
        return True

    def singular_values(self, rows: Array) -> list[float]:
        """Smallest singular values of the components that must follow the line."""
        if len(self.q) == _FULL:
            # One by one: the arm's scalar code is quicker for a few.
            J = np.array([self._arm.jacobian(row) for row in rows])
        else:
            J = self._arm.jacobian(rows)
        sigma = np.linalg.svd(J if self._is_full else J[:, :3], compute_uv=False)
        smallest: list[float] = sigma[:, -1].tolist()
        return smallest

    def _move(self, T: Array, velocity: Array, time_s: float) -> Array:
        return self._apply(T, rigid_motion(velocity.tolist(), time_s, self._is_tool))

    def _apply(self, T: Array, motion: Array) -> Array:
        if self._is_tool:
            return np.asarray(T @ motion)
        moved: Array = motion @ T
        # Along the axes of the base the tip turns about itself, not about the base.
        moved[:3, 3] = T[:3, 3] + motion[:3, 3]
        return moved

    def _solve(self, T: Array, expected: Array) -> Array | None:
        """Joint positions for a pose, on the way that leads to the expected ones (rad, m)."""
        found = self._arm.inverse(T, seed=expected)
        if np.abs(found.q - expected).max() < _JUMP and found.position_error < _SOLVED:
            return found.q
        # Beyond a limit the solver prefers another branch; the arm is on this one.
        return self._refine(T, expected) if self._is_full else None

    def _refine(self, T: Array, q: Array) -> Array | None:
        for _ in range(_REFINEMENTS):
            here = self._arm.forward(q)
            turn = T[:3, :3] @ here[:3, :3].T
            skew = 0.5 * (turn - turn.T)
            error = np.array([*(T[:3, 3] - here[:3, 3]), skew[2, 1], skew[0, 2], skew[1, 0]])
            if np.abs(error).max() < _SOLVED and np.trace(turn) > 0.0:
                return q
            q = q + solve_rates(self._arm.jacobian(q), error).rate
        return None


def find_unwalkable(arm: Arm, q: Array) -> Finding | None:
    """Find why an arm's tip cannot walk from joint positions (rad, m), shape (n,)."""
    if not arm.solver.is_closed_form:
        text = f"{arm.model.name} has no inverse kinematics in closed form; jog its joints"
        return Finding(Reason.JOG_NOT_OFFERED, text)
    if len(q) > _FULL and np.abs(arm.inverse(arm.forward(q), q).q - q).max() > _EQUAL:
        text = "the halves of the wrist bend differently; jog its joints until they agree"
        return Finding(Reason.JOG_NOT_OFFERED, text)
    return None


def rigid_motion(velocity: list[float], time_s: float, is_screw: bool) -> Array:
    """Motion at a constant velocity for a time, in plain floats, since each tick computes many.

    Args:
        velocity: Linear (m/s) before angular (rad/s), six floats.
        time_s: Time (s).
        is_screw: Whether the linear velocity turns with the body (``se3.exp``), or stays.

    Returns:
        Shape (4, 4).
    """
    vx, vy, vz, wx, wy, wz = (part * time_s for part in velocity)
    square = wx * wx + wy * wy + wz * wz
    theta = sqrt(square)
    if theta < 1e-2:
        # Series of sin t / t, (1 - cos t) / t^2 and (t - sin t) / t^3.
        a = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
        b = 0.5 - square / 24.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0))
        c = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))
    else:
        a, b = sin(theta) / theta, (1.0 - cos(theta)) / square
        c = (1.0 - a) / square
    if is_screw:
        ux, uy, uz = wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx
        vx += b * ux + c * (wy * uz - wz * uy)
        vy += b * uy + c * (wz * ux - wx * uz)
        vz += b * uz + c * (wx * uy - wy * ux)
    return np.array(
        [
            [1.0 - b * (wy * wy + wz * wz), b * wx * wy - a * wz, b * wx * wz + a * wy, vx],
            [b * wx * wy + a * wz, 1.0 - b * (wx * wx + wz * wz), b * wy * wz - a * wx, vy],
            [b * wx * wz - a * wy, b * wy * wz + a * wx, 1.0 - b * (wx * wx + wy * wy), vz],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
