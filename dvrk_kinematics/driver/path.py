"""What is played: the joining motion, then the goal's own; and how to stop along it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Sample, Spline

__all__ = ["Path", "PathClock"]

_HALVINGS = 12
"""How finely the rate of a stopping clock is chosen: 1/4096 of what it was."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Path:
    """A motion from t = 0 on.

    Attributes:
        goal: The goal's own motion; its first knot is where joining ends.
        join: The motion before it, None if the goal begins at the commanded state.
    """

    goal: Spline
    join: Spline | None = None

    @property
    def join_s(self) -> float:
        """How long joining takes (s)."""
        return 0.0 if self.join is None else self.join.end

    @property
    def duration_s(self) -> float:
        """How long all of it takes (s)."""
        return self.join_s + self.goal.end - self.goal.start

    def sample(self, t: float) -> Sample:
        """Position and velocity at a time (s)."""
        if self.join is not None and t < self.join.end:
            return self.join.sample(t)
        if t >= self.duration_s:
            # At rest exactly, whatever rounding left in the goal's last velocity.
            return Sample(self.goal.position[-1], np.zeros_like(self.goal.position[-1]))
        return self.goal.sample(t - self.join_s + self.goal.start)


class PathClock:
    """The time along a path: it runs with the real one, or slower, never faster.

    Args:
        path: The path.
        acceleration: Accelerations (rad/s^2, m/s^2) that stopping may use, shape (n,).
        max_step_s: Most that one tick may advance it (s).
    """

    def __init__(self, path: Path, acceleration: Array, max_step_s: float) -> None:
        self.path = path
        self.time_s = 0.0
        self.rate = 1.0
        self.is_stopping = False
        self._acceleration = acceleration
        self._max_step_s = max_step_s

    @property
    def is_at_end(self) -> bool:
        """Whether the path was played to its end."""
        return self.time_s >= self.path.duration_s

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing moves any more."""
        return self.rate == 0.0 or self.is_at_end

    def advance(self, elapsed_s: float) -> Sample:
        """Advance by the time that went by, and give what to command.

        Args:
            elapsed_s: Real time since the last tick (s). A stall makes the motion late, not fast.
        """
        step = min(max(elapsed_s, 0.0), self._max_step_s)
        if self.is_stopping:
            self._slow_down(step)
        else:
            self.time_s += step
        return self.sample()

    def sample(self) -> Sample:
        """What is commanded now: the path's position, and its velocity at the clock's rate."""
        q, qd = self.path.sample(self.time_s)
        return Sample(q, qd * self.rate)

    def _slow_down(self, step: float) -> None:
        """Lower the rate as far as the accelerations allow.

        A path inside the limits can always be followed at an unchanged rate, so that this is the
        bound from which the search goes down.
        """
        if self.rate == 0.0 or step == 0.0:
            return
        before = self.sample().qd
        allowed = self._acceleration * step + _ROUNDING

        def can_go_to(rate: float) -> bool:
            qd = self.path.sample(self.time_s + 0.5 * (self.rate + rate) * step).qd * rate
            return bool((np.abs(qd - before) <= allowed).all())

        low, high = 0.0, self.rate
        if can_go_to(low):
            high = low
        else:
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if can_go_to(middle) else (middle, high)
        self.time_s += 0.5 * (self.rate + high) * step
        self.rate = high
