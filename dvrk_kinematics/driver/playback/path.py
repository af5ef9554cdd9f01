"""The path to play: the joining motion, then the goal's own; and how fast to play it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.driver.tolerances import RATE_ROUNDING, VELOCITY_ROUNDING
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Sample, Spline
from dvrk_kinematics.motion.tolerances import RELATIVE_SLACK

__all__ = ["JoinedPath", "Momentum", "PathClock", "Step"]

_HALVINGS = 12
"""Resolution of the chosen rate: 1/4096 of its change."""


class Step(NamedTuple):
    """How joints moved from one tick to the next.

    Attributes:
        velocity: Mean velocity between the two positions (rad/s, m/s), shape (n,).
        told: Velocity at its end, as commanded (rad/s, m/s), shape (n,).
        elapsed_s: Time between them (s).
    """

    velocity: Array
    told: Array
    elapsed_s: float


class Momentum(NamedTuple):
    """The commanded state, for another path to continue from.

    Attributes:
        sample: Positions, and the velocity that the motion has at its full speed.
        rate: Fraction of its full speed at which it is played; 0 at rest.
        before: The last step to here; None from rest.
    """

    sample: Sample
    rate: float = 0.0
    before: Step | None = None


@dataclass(frozen=True, slots=True)
class JoinedPath:
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
            # Exactly at rest, whatever rounding left in the goal's last velocity.
            return Sample(self.goal.position[-1], np.zeros_like(self.goal.position[-1]))
        return self.goal.sample(t - self.join_s + self.goal.start)


class PathClock:
    """The time along a path: it runs at a rate from 0 to 1 of the real one, never faster.

    Between two ticks the rate is constant. It changes from tick to tick only as far as the
    accelerations allow. We compute these from the positions themselves: from how the mean velocity
    between two of them differs from the previous one. An unchanged rate is always possible,
    because the path keeps within the accelerations at its full speed.

    Args:
        path: The path.
        acceleration: Accelerations (rad/s^2, m/s^2) that a change of the rate may use, shape (n,).
        max_step_s: Most that a tick should advance it (s). After a late tick it advances by more
            only where the accelerations require it: a stall makes the motion late, not fast.
        momentum: State from which the path continues; None from rest.
        farthest: Most that one step may move the joints (rad, m), shape (n,), whatever the
            accelerations require after a long stall; None for no bound.
    """

    def __init__(
        self,
        path: JoinedPath,
        acceleration: Array,
        max_step_s: float,
        momentum: Momentum | None = None,
        farthest: Array | None = None,
    ) -> None:
        self.path = path
        self.time_s = 0.0
        # Paths may exceed the accelerations by as much.
        self._allowed = acceleration * (1.0 + RELATIVE_SLACK)
        self._max_step_s = max_step_s
        self._farthest = farthest
        q, qd = path.sample(0.0)
        at_rest = Step(np.zeros_like(q), np.zeros_like(q), 0.5 * max_step_s)
        rate, before = (0.0, None) if momentum is None else momentum[1:]
        self._before = before or at_rest
        self._q = q
        # We enter a path that begins faster than the arm moves as if from a pause.
        is_smooth = bool((np.abs(rate * qd - self._before.told) <= VELOCITY_ROUNDING).all())
        self.rate = rate if is_smooth else 0.0

    @property
    def is_at_end(self) -> bool:
        """Whether the path was played to its end."""
        return self.time_s >= self.path.duration_s

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing moves, at the end or in a pause."""
        return self.rate == 0.0 or self.is_at_end

    @property
    def momentum(self) -> Momentum:
        """State for another path to continue from: at the same rate, or at rest after a pause."""
        q, qd = self.path.sample(self.time_s)
        if self.rate == 0.0:
            return Momentum(Sample(q, np.zeros_like(qd)))
        return Momentum(Sample(q, qd), self.rate, self._before)

    def rest(self) -> None:
        """Rest here, like an arm that came to rest after a long time without setpoints."""
        still = np.zeros_like(self._q)
        self.rate, self._before = 0.0, Step(still, still, 0.5 * self._max_step_s)

    def advance(self, elapsed_s: float, scale: float = 1.0) -> Sample:
        """Advance by the elapsed time, and return what to command.

        Args:
            elapsed_s: Real time since the last tick (s).
            scale: Rate to reach as soon as the accelerations allow, 0 to 1.
        """
        if elapsed_s > 0.0:
            wanted = min(scale, self._max_step_s / elapsed_s)
            if wanted != self.rate:
                self.rate = self._find_rate(wanted, elapsed_s)
            if elapsed_s > self._max_step_s and self._farthest is not None:
                self.rate = self._find_short(self.rate, elapsed_s, self._farthest)
            self.time_s += self.rate * elapsed_s
            q, qd = self.sample()
            self._before, self._q = Step((q - self._q) / elapsed_s, qd, elapsed_s), q
        return self.sample()

    def sample(self) -> Sample:
        """The commanded state: the path's position, and its velocity at the clock's rate."""
        q, qd = self.path.sample(self.time_s)
        return Sample(q, qd * self.rate)

    def _find_rate(self, wanted: float, elapsed_s: float) -> float:
        """Find the reachable rate nearest to the wanted one for this step."""
        if self._can_go_to(wanted, elapsed_s):
            return wanted
        possible, impossible = self.rate, wanted
        for _ in range(_HALVINGS):
            middle = 0.5 * (possible + impossible)
            if self._can_go_to(middle, elapsed_s):
                possible = middle
            else:
                impossible = middle
        return possible

    def _find_short(self, rate: float, elapsed_s: float, farthest: Array) -> float:
        """Find the rate, or a lower one at which the step is not too far."""
        for _ in range(_HALVINGS):
            moved = np.abs(self.path.sample(self.time_s + rate * elapsed_s).q - self._q)
            part = float((moved / farthest).max())
            if part <= 1.0:
                break
            rate /= part * (1.0 + RATE_ROUNDING)
        return rate

    def _can_go_to(self, rate: float, elapsed_s: float) -> bool:
        q, qd = self.path.sample(self.time_s + rate * elapsed_s)
        before = self._before
        change = np.abs((q - self._q) / elapsed_s - before.velocity)
        told = np.abs(rate * qd - before.told)
        between_s = 0.5 * (elapsed_s + before.elapsed_s)
        return bool(
            (change <= self._allowed * between_s + VELOCITY_ROUNDING).all()
            and (told <= self._allowed * elapsed_s + VELOCITY_ROUNDING).all()
        )
