"""The motion of a jog, tick by tick: towards a wanted velocity, and safe at any time.

The velocity goes straight from what it is to what is wanted, as fast as the joints' accelerations
allow. Starting, slowing and stopping thus only change the length of the velocity, and the tip
keeps to its line. Before each step we check the way ahead, as far as it takes to stop, and keep
the step slow enough to stop on that way.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.driver.jog.jog_command import JogSettings, is_rest
from dvrk_kinematics.driver.jog.obstacles import End, Obstacles
from dvrk_kinematics.driver.jog.rate_profile import RateProfile, find_rate_profile
from dvrk_kinematics.driver.jog.walk import Walk
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.driver.settings import GuardSettings
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Sample

__all__ = ["JogMotion"]

_ROWS = 6
"""Number of places checked on the way ahead."""
_HORIZON = 1.6
"""How far ahead to check, in stopping distances for joints that keep their slopes."""
_STILL = 1e-6
"""Fraction of one tick's change of velocity that counts as rest."""
_MOVES = 1e-9
"""Slopes (rad, m per s) above this belong to joints that move."""
_LATE_S = 0.05
"""How late a setpoint may be (s) and still be sent at full speed: in that time no joint moves
farther than the step that the guard allows."""
_STEP_PART = 0.5
"""Fraction of the guard's allowed step that a joint may move in a late one. The rest is for
setpoints that the arm has not reported yet."""


class _Way(NamedTuple):
    """A way ahead.

    Attributes:
        slope: q' here (rad, m per s), shape (n,).
        curve: q'' here, shape (n,).
        end: Where it ends.
        profile: How fast it may be taken.
    """

    slope: Array
    curve: Array
    end: End
    profile: RateProfile


class JogMotion:
    """A motion that begins and ends at rest.

    Args:
        walk: Where it begins, and what a velocity means there.
        guard_settings: Limits and the cannula rule.
        settings: How close it may come to a singularity.
        max_step_s: Longest step (s).
    """

    def __init__(
        self,
        walk: Walk,
        guard_settings: GuardSettings,
        settings: JogSettings,
        max_step_s: float,
    ) -> None:
        self.slowed_by: Finding | None = None
        self.factor = 1.0
        self._walk = walk
        self._velocity: Array | None = None
        self._rates = np.zeros_like(walk.q)
        self._limits = guard_settings.limits
        farthest = _STEP_PART * guard_settings.step_fraction * guard_settings.pid_tolerance
        self._fastest = np.minimum(self._limits.velocity, farthest / _LATE_S)
        self._obstacles = Obstacles(guard_settings, settings.min_singular_value)
        self._lead_s = 0.5 * max_step_s
        self._used = (1.0 - settings.reserve) * self._limits.acceleration
        self._most = (1.0 - 0.5 * settings.reserve) * self._limits.acceleration

    @property
    def sample(self) -> Sample:
        """What is commanded."""
        return Sample(self._walk.q, self._rates)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing moves."""
        return not self._rates.any()

    def step(self, wanted: Array, step_s: float) -> Sample:
        """Go on for a time.

        Args:
            wanted: Velocity to reach, in the walk's own terms; below ``SMALLEST_SPEED`` rest.
            step_s: Time (s).

        Returns:
            What to command at its end. ``slowed_by`` and ``factor`` show what keeps it from the
            wanted velocity, apart from the time it takes to speed up.
        """
        velocity = np.zeros_like(wanted) if self._velocity is None else self._velocity
        self.slowed_by, self.factor = None, 1.0
        if step_s <= 0.0:
            return self.sample
        if is_rest(wanted):
            wanted = np.zeros_like(wanted)
        target, slope = self._aim(velocity, wanted, step_s)
        if float((np.abs(slope) / self._used).max()) < _STILL * step_s:
            return self._go(velocity, np.zeros_like(wanted), np.zeros_like(slope), step_s)
        rate = self._find_rate(target, slope, step_s)
        if rate is None:
            # It cannot get there within the accelerations: slow down along the present way.
            self.slowed_by = self.slowed_by or Finding(Reason.JOG_SPEED, "change of direction")
            rate = self._brake(velocity, step_s)
            self._explain(rate, velocity, wanted)
            return self._go(velocity, rate * velocity, rate * self._rates, step_s)
        self._explain(rate, target, wanted)
        return self._go(velocity, rate * target, rate * slope, step_s)

    def _aim(self, velocity: Array, wanted: Array, step_s: float) -> tuple[Array, Array]:
        """Find the velocity one step can reach towards the wanted one, and its joint rates."""
        change = wanted - velocity
        if not change.any():
            return wanted, self._rates
        rates = self._walk.rates(change)
        part = float((np.abs(rates) / self._used).max()) / step_s
        if part <= 1.0:
            return wanted, self._rates + rates
        return velocity + change / part, self._rates + rates / part

    def _find_rate(self, target: Array, slope: Array, step_s: float) -> float | None:
        """Largest safe rate along a velocity; None if the accelerations do not allow it."""
        weight = slope / self._used**2
        rate = max(float(self._rates @ weight) / float(slope @ weight), 0.0)
        # While the velocity turns, the tip ends up slightly to the side of the new way's line.
        aside = 0.5 * step_s * (self._rates - rate * slope)
        way = self._look_ahead(target, slope, step_s, aside)
        low, high = self._allowed_rates(slope + way.curve * (rate * step_s), step_s)
        if low > high:
            return None
        found = way.profile.highest_rate(rate, min(high, 1.0), step_s, self._lead_s)
        if found < min(high, 1.0):
            self.slowed_by = self._name_cause(way, 0.5 * (rate + found) * step_s)
        return found if low <= found else None

    def _look_ahead(self, target: Array, slope: Array, step_s: float, aside: Array) -> _Way:
        stop_s = 0.5 * float((np.abs(slope) / self._used).max())
        spacing_s = (step_s + 2.0 * self._lead_s + _HORIZON * stop_s) / _ROWS
        rows = self._walk.ahead(target, slope, spacing_s, _ROWS)
        end = self._obstacles.find_end(rows, aside, spacing_s, _ROWS, self._walk)
        slopes, curves, curve = _differentiate(rows, slope, spacing_s)
        count = min(max(ceil(end.place / spacing_s), 1), len(slopes))
        places = [*(spacing_s * k for k in range(count)), end.place]
        profile = find_rate_profile(
            places, slope, slopes[:count], curves[:count], self._fastest, self._used
        )
        return _Way(slope, curve, end, profile)

    def _allowed_rates(self, slope: Array, step_s: float) -> tuple[float, float]:
        """Rates at the end of a tick that keep within the joints' accelerations."""
        moves = np.abs(slope) > _MOVES
        change = self._most * step_s
        centre, reach = self._rates[moves] / slope[moves], change[moves] / np.abs(slope[moves])
        low, high = (centre - reach).max(initial=-np.inf), (centre + reach).min(initial=np.inf)
        return float(low), float(high)

    def _brake(self, velocity: Array, step_s: float) -> float:
        """Smallest rate along the present velocity that the accelerations allow."""
        way = self._look_ahead(velocity, self._rates, step_s, np.zeros_like(self._rates))
        low, high = self._allowed_rates(self._rates + way.curve * step_s, step_s)
        return min(max(low, 0.0), max(high, 0.0), 1.0)

    def _go(self, velocity: Array, later: Array, rates: Array, step_s: float) -> Sample:
        """Change the velocity evenly over a step, to about these joint rates."""
        mean, mean_rates = 0.5 * (velocity + later), 0.5 * (self._rates + rates)
        if not self._walk.advance(mean, mean_rates, step_s):
            self.slowed_by = Finding(Reason.SINGULARITY_AHEAD, "no joint positions hold the tip")
            later = np.zeros_like(later)
        self._velocity = later
        self._rates = self._walk.rates(later) if later.any() else np.zeros_like(self._rates)
        return self.sample

    def _explain(self, rate: float, target: Array, wanted: Array) -> None:
        if self.slowed_by is not None and wanted.any():
            part = rate * float(target @ wanted) / float(wanted @ wanted)
            self.factor = min(max(part, 0.0), 1.0)

    def _name_cause(self, way: _Way, place: float) -> Finding:
        joint = way.profile.slow_joint_at(place)
        if joint >= 0:
            limit = float(self._fastest[joint])
            value = abs(float(way.slope[joint]))
            name = self._limits.names[joint]
            return Finding(Reason.JOG_SPEED, "a joint's speed or its change", name, value, limit)
        return way.end.finding or Finding(Reason.JOG_SPEED, "so that it can stop in time")


def _differentiate(rows: Array, slope: Array, spacing_s: float) -> tuple[Array, Array, Array]:
    """Differentiate a way by s: slopes and curves half-way between rows, and the curve here.

    Args:
        rows: Joint positions, shape (k + 1, n).
        slope: q' at the first row, shape (n,).
        spacing_s: Time between two rows (s).

    Returns:
        Shapes (k, n), (k, n) and (n,); a single segment without a curve if there is no way.
    """
    if len(rows) < 3:
        return slope[None], np.zeros_like(slope)[None], np.zeros_like(slope)
    slopes = (rows[1:] - rows[:-1]) / spacing_s
    bends = (slopes[1:] - slopes[:-1]) / spacing_s
    # The first step's change of slope gives the curve at a third of the step.
    first = 2.0 * (slopes[0] - slope) / spacing_s
    curves = np.empty_like(slopes)
    curves[0], curves[-1] = 0.75 * first + 0.25 * bends[0], bends[-1]
    curves[1:-1] = 0.5 * (bends[1:] + bends[:-1])
    return slopes, curves, 1.5 * first - 0.5 * bends[0]
