"""Obstacles that end a jog's way: joint limits, the cannula, and singularities of the arm.

Only obstacles ahead count. A joint beyond its limit, a wrist in the cannula or a nearly singular
arm may always move away from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dvrk_kinematics.driver.jog.walk import Walk
from dvrk_kinematics.driver.reasons import Finding, Reason, tell_shallow
from dvrk_kinematics.driver.settings import GuardSettings
from dvrk_kinematics.driver.tolerances import BOUND_ROUNDING
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["End", "Obstacles"]

_CLEARANCE = 1e-6
"""How far (rad, m) before a limit a jog comes to rest, so that rounding never passes it."""
_SHRINKS = 1.0 - 1e-9
"""A singular value below this fraction of the previous one has decreased by more than rounding."""
_STRIDE = 3
"""Singular values are computed at every third row only: they cost as much as all the rest."""


class End(NamedTuple):
    """Where a way ends, and why.

    Attributes:
        place: Place on the way (s).
        finding: What is there; None if it is only the end of what was checked.
    """

    place: float
    finding: Finding | None


class Obstacles:
    """The obstacles of one arm.

    Args:
        settings: Joint limits and the cannula rule.
        min_singular_value: Singular value (SI units) that a way must not go below.
    """

    def __init__(self, settings: GuardSettings, min_singular_value: float) -> None:
        self._limits = settings.limits
        self._lower = settings.limits.position.lower + _CLEARANCE
        self._upper = settings.limits.position.upper - _CLEARANCE
        self._min_singular_value = min_singular_value
        self._cannula = settings.cannula
        if settings.cannula is not None:
            rule = settings.cannula
            lowest = rule.min_insertion_m + _CLEARANCE
            self._is_cannula_first = lowest > self._lower[rule.joint]
            self._lower[rule.joint] = max(lowest, self._lower[rule.joint])

    def find_end(self, rows: Array, aside: Array, spacing_s: float, count: int, walk: Walk) -> End:
        """Find where a way ends.

        Args:
            rows: Joint positions on the way, the first where the arm is, shape (k + 1, n).
            aside: How far from these the arm will be (rad, m), shape (n,).
            spacing_s: Time between two rows (s).
            count: How many rows beyond the first were requested.
            walk: Computes the singular values at joint positions.
        """
        ends = [
            self._find_limit(rows, aside, spacing_s),
            self._find_singular(rows, spacing_s, walk),
        ]
        found = [end for end in ends if end is not None]
        if found:
            return min(found, key=lambda end: end.place)
        last = (len(rows) - 1) * spacing_s
        if len(rows) <= count:
            text = "no joint positions hold the tip farther on this line"
            return End(last, Finding(Reason.SINGULARITY_AHEAD, text))
        return End(last, None)

    def _find_limit(self, rows: Array, aside: Array, spacing_s: float) -> End | None:
        here, rows = rows[0], rows + aside
        # A joint beyond a bound may come back, but not turn and go out again: the guard compares
        # each setpoint with the previous one.
        highest = np.vstack([np.maximum(here, rows[0]), rows[1:]])
        lowest = np.vstack([np.minimum(here, rows[0]), rows[1:]])
        lower = np.minimum(self._lower, np.maximum.accumulate(highest))
        upper = np.maximum(self._upper, np.minimum.accumulate(lowest))
        beyond = np.maximum(rows - upper, lower - rows)
        is_beyond = beyond > BOUND_ROUNDING
        if not is_beyond.any():
            return None
        k = int(np.argmax(is_beyond.any(axis=1)))
        part = np.full(len(here), np.inf)
        joints = is_beyond[k]
        if k == 0:
            part[joints] = 1.0
        else:
            # Which joint reaches its bound first, on the straight piece between two rows.
            before, after = beyond[k - 1, joints], beyond[k, joints]
            part[joints] = np.clip(-before / (after - before), 0.0, 1.0)
        j = int(np.argmin(part))
        place = max(k - 1 + float(part[j]), 0.0) * spacing_s
        return End(place, self._name_limit(j, here, rises=bool(rows[k, j] > upper[k, j])))

    def _name_limit(self, j: int, here: Array, rises: bool) -> Finding:
        rule = self._cannula
        if rule is not None and j == rule.joint and not rises and self._is_cannula_first:
            return tell_shallow(Reason.CANNULA_AHEAD, rule, here)
        position = self._limits.position
        limit = (position.upper if rises else position.lower)[j]
        return Finding(Reason.LIMIT_AHEAD, "", self._limits.names[j], float(here[j]), float(limit))

    def _find_singular(self, rows: Array, spacing_s: float, walk: Walk) -> End | None:
        if len(rows) < 2:
            return None
        looked_at = list(range(_STRIDE, len(rows), _STRIDE)) or [len(rows) - 1]
        values = walk.singular_values(rows[looked_at])
        smallest = self._min_singular_value
        if min(values) >= smallest:
            return None
        before, place = walk.singular_values(rows[:1])[0], 0.0
        here = before
        for k, value in zip(looked_at, values, strict=True):
            if value < smallest and value < before * _SHRINKS:
                part = max(before - smallest, 0.0) / (before - value)
                place += part * (k * spacing_s - place)
                what = "smallest singular value of the Jacobian"
                return End(place, Finding(Reason.SINGULARITY_AHEAD, what, "", here, smallest))
            before, place = value, k * spacing_s
        return None
