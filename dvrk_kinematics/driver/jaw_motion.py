"""The motion of a jaw: one joint that goes to rest at a goal, or elsewhere if told so on its way.

Whatever happens, it is one motion whose acceleration is bounded at all times. So are then the
second differences of its positions, at whatever moments these are sent.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from dvrk_kinematics.driver.joining import make_join
from dvrk_kinematics.motion.motion_limits import MotionLimits
from dvrk_kinematics.motion.spline import Sample, Spline

__all__ = ["JawMotion"]


class JawMotion:
    """A motion that begins and ends at rest.

    Args:
        position: Where it begins (rad).
        limits: Velocity and acceleration of the one joint.
        period_s: Shortest time (s) that it takes.
    """

    def __init__(self, position: float, limits: MotionLimits, period_s: float) -> None:
        self._limits = limits
        self._period_s = period_s
        self._time_s = 0.0
        self._way = Spline(np.zeros(1), np.array([[position]]), np.zeros((1, 1)))

    @property
    def is_at_rest(self) -> bool:
        """Whether it has come to its end."""
        return self._time_s >= self._way.end

    def advance(self, elapsed_s: float) -> float:
        """Move on for a time (s), and give the position there (rad)."""
        self._time_s += elapsed_s
        return float(self._sample.q[0])

    def go_to(self, goal: float) -> None:
        """Go to rest at a position (rad) from here on."""
        end = Sample(np.array([goal]), np.zeros(1))
        # A motion that takes a period at least is always there, also for a jaw that stays.
        self._begin(cast(Spline, make_join(self._sample, end, self._period_s, self._limits)))

    def brake(self) -> None:
        """Come to rest from here on, as soon as the acceleration allows."""
        q, qd = self._sample
        stop_s = float(abs(qd[0]) / self._limits.acceleration[0])
        positions, velocities = np.array([q, q + 0.5 * stop_s * qd]), np.array([qd, 0.0 * qd])
        self._begin(Spline(np.array([0.0, stop_s]), positions, velocities))

    def rest(self) -> None:
        """Be at rest here: after so long without a setpoint the jaw has come to rest by itself."""
        q, qd = self._sample
        self._begin(Spline(np.zeros(1), q[None], 0.0 * qd[None]))

    @property
    def _sample(self) -> Sample:
        return self._way.sample(self._time_s)

    def _begin(self, way: Spline) -> None:
        self._way, self._time_s = way, 0.0
