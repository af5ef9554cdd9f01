"""How well a tip followed its path: contour error and lag, apart."""

from __future__ import annotations

from math import nan

import numpy as np
from dvrk_kinematics_interfaces.msg import TipError

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.plan import Plan

__all__ = ["PathClock", "measure_tip", "not_measured"]

_WINDOW_S = 0.5
"""How much earlier or later than the path's clock says the nearest point may be planned."""

_RUN_ON_S = 0.25
"""How far beyond what was heard last a path's time is taken to run on. Longer silence is a stall
of the player: the arm waits, and where it is on its path is no later than this."""


class PathClock:
    """Where on its path a motion was when, by what the player says of it now and then.

    A stall makes a motion late, so that the path's time falls behind the clock by and by. One
    thread may note while another reads.
    """

    def __init__(self) -> None:
        self._heard: list[tuple[float, float]] = []
        self._begin_s = np.inf

    @property
    def has_begun(self) -> bool:
        """Whether anything was heard yet."""
        return bool(self._heard)

    @property
    def begin_s(self) -> float:
        """When the path began (s): the earliest that was heard, since others hold stalls."""
        return float(self._begin_s)

    @property
    def newest_s(self) -> float:
        """Time on the path that was heard last (s); 0 before the first."""
        return self._heard[-1][1] if self._heard else 0.0

    def note(self, stamp_s: float, time_s: float) -> None:
        """Take in that the path's time was ``time_s`` when the clock was at ``stamp_s``."""
        self._begin_s = min(self._begin_s, stamp_s - time_s)
        if len(self._heard) > 1 and self._heard[-2][1] == self._heard[-1][1] == time_s:
            # A pause is its begin and its end, however long it lasts.
            self._heard[-1] = (stamp_s, time_s)
        else:
            self._heard.append((stamp_s, time_s))

    def read(self, stamps_s: Array) -> Array:
        """Time on the path at some moments (s), shape (N,); beyond what was heard it runs on."""
        stamps, times = np.array(self._heard).T
        before, after = stamps_s - stamps[0], stamps_s - stamps[-1]
        within = np.interp(stamps_s, stamps, times)
        return within + np.minimum(before, 0.0) + np.maximum(after, 0.0)

    def doubt_s(self, stamps_s: Array) -> float:
        """Longest time (s) in which nothing was heard, and the path may have stood.

        Args:
            stamps_s: The moments (s), shape (N,), N >= 1.
        """
        stamps, times = np.array(self._heard).T
        gaps = np.diff(stamps)[np.diff(times) > 0.0]
        return max(float(gaps.max(initial=0.0)), float(stamps_s.max() - stamps[-1]), 0.0)

    def read_now(self, stamp_s: float) -> float:
        """Time on the path at a moment of now (s): it runs on, but not through a stall."""
        return min(float(self.read(np.array([stamp_s]))[0]), self.newest_s + _RUN_ON_S)


def not_measured() -> TipError:
    """What to say of a tip that nobody measured: NaN, since zeros would look perfect."""
    names = TipError.get_fields_and_field_types()
    return TipError(**{name: nan for name in names if name != "samples"}, samples=0)


def measure_tip(arm: Arm, plan: Plan, clock: PathClock, stamps_s: Array, q: Array) -> TipError:
    """Compare where the tip was with the exact path.

    Args:
        arm: The arm.
        plan: What was played.
        clock: Where on its path it was when.
        stamps_s: When the joints were measured (s), shape (N,).
        q: Measured positions (rad, m), shape (N, n).

    Returns:
        The errors; NaN where no state was measured during the motion.
    """
    if not clock.has_begun:
        return not_measured()
    times = clock.read(stamps_s)
    during = (times >= 0.0) & (times <= plan.duration_s)
    if not during.any():
        return not_measured()
    times, stamps = times[during], stamps_s[during]
    # Where the path's time is in doubt, the nearest point may be planned that much earlier.
    window_s = _WINDOW_S + clock.doubt_s(stamps)
    errors = plan.path.contour_errors(times, arm.forward(q[during]), window_s)
    lag = stamps - clock.begin_s - (times - errors.lag_s)
    return TipError(
        contour_position_max=float(errors.position.max()),
        contour_position_rms=_rms(errors.position),
        contour_rotation_max=float(errors.rotation.max()),
        contour_rotation_rms=_rms(errors.rotation),
        lag_max=float(lag.max()),
        lag_mean=float(lag.mean()),
        samples=int(during.sum()),
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values * values)))
