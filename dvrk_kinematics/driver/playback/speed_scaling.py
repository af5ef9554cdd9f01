"""How fast motions are played: as the user wishes, and slower while anything is late.

Lateness is a fraction of a limit: of a state's age, of the gap between two ticks, or of the
distance from the arm's reported setpoint to the sent one. From half of the limit on, the speed
drops, and at the limit it is 0: the motion then rests on its path. It goes on when all has been
in time for a while, and ends when nothing was in time for the patience.
"""

from __future__ import annotations

from typing import NamedTuple

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.driver.settings import GuardSettings

__all__ = ["SpeedScaling"]

_SLOW_FROM = 0.5
"""Lateness at which slowing down begins."""
_AGE = "s since the arm's last news"


class _Late(NamedTuple):
    """Something that may be late.

    Attributes:
        value: How late it is.
        limit: How late it may be.
        reason: Why a motion ends if the lateness lasts.
        what: The quantity that is counted.
    """

    value: float
    limit: float
    reason: Reason
    what: str

    @property
    def lateness(self) -> float:
        """Lateness as a fraction of its limit."""
        return self.value / self.limit


class SpeedScaling:
    """The factor from 0 to 1 by which motions are slowed.

    Args:
        settings: Oldest state, patience, and how long all must be in time before it goes on.
        max_gap_s: Longest time between two ticks of a motion (s).

    Attributes:
        wish: The user's requested factor, 0 to 1.
        slow_downs: How many times lateness has slowed a motion so far.
    """

    def __init__(self, settings: GuardSettings, max_gap_s: float) -> None:
        self.wish = 1.0
        self.slow_downs = 0
        self._settings = settings
        self._max_gap_s = max_gap_s
        self._ticked_ns: int | None = None
        self._allowed = 1.0
        self._is_slowed = False
        self._full_since_ns: int | None = None
        self._in_time_since_ns: int | None = None
        self._in_time_ns = 0
        self._is_overdue = False
        self._why: Finding | None = None

    @property
    def factor(self) -> float:
        """The factor to reach as soon as the accelerations allow."""
        return min(self.wish, self._allowed)

    @property
    def is_overdue(self) -> bool:
        """Whether something is later than allowed, or was a moment ago: nothing may move."""
        return self._is_overdue

    def wait(self, now_ns: int) -> None:
        """Let a motion that begins now wait until all has been in time for a while."""
        self._is_overdue, self._in_time_ns, self._in_time_since_ns = True, now_ns, None
        self._allowed = 0.0

    def observe(
        self, age_s: float, is_ready: bool, now_ns: int, is_moving: bool, ahead: float = 0.0
    ) -> Finding | None:
        """Take a tick into account.

        Args:
            age_s: Age of the arm's state (s).
            is_ready: Whether the arm has reported that it is ready for long enough.
            now_ns: Time now (monotonic).
            is_moving: Whether there is a motion that lateness can slow.
            ahead: How far setpoints are ahead of the reported one, as a fraction of the limit.

        Returns:
            Why the motion must end, None while there is patience.
        """
        gap_s = 0.0 if self._ticked_ns is None else (now_ns - self._ticked_ns) * 1e-9
        self._ticked_ns = now_ns
        if not is_moving:
            self._forget(now_ns)
            return None
        latest = max(
            _Late(age_s, self._settings.max_age_s, Reason.STALE_STATE, _AGE),
            _Late(gap_s, self._max_gap_s, Reason.GAP, "s between ticks"),
            _Late(ahead, 1.0, Reason.ARM_BEHIND, "of the way that setpoints may be ahead of it"),
            key=lambda late: late.lateness,
        )
        self._judge(latest, is_ready, now_ns)
        self._count(now_ns)
        return self._find_impatience(now_ns)

    def _forget(self, now_ns: int) -> None:
        self._allowed, self._is_slowed, self._is_overdue, self._why = 1.0, False, False, None
        self._full_since_ns = self._in_time_since_ns = None
        self._in_time_ns = now_ns

    def _judge(self, late: _Late, is_ready: bool, now_ns: int) -> None:
        if late.lateness > 1.0:
            self._is_overdue, self._in_time_since_ns = True, None
            self._why = Finding(late.reason, late.what, value=late.value, limit=late.limit)
        else:
            self._in_time_ns = now_ns
            if self._in_time_since_ns is None:
                self._in_time_since_ns = now_ns
        if is_ready and self._has_lasted(self._in_time_since_ns, now_ns):
            self._is_overdue = False
        allowed = min(max((1.0 - late.lateness) / (1.0 - _SLOW_FROM), 0.0), 1.0)
        self._allowed = 0.0 if self.is_overdue else allowed

    def _has_lasted(self, since_ns: int | None, now_ns: int) -> bool:
        return since_ns is not None and (now_ns - since_ns) * 1e-9 >= self._settings.ready_s

    def _count(self, now_ns: int) -> None:
        """Count a slow-down once, however often the lateness comes and goes within it."""
        if self._allowed < 1.0:
            self.slow_downs += not self._is_slowed
            self._is_slowed, self._full_since_ns = True, None
            return
        if self._full_since_ns is None:
            self._full_since_ns = now_ns
        if self._has_lasted(self._full_since_ns, now_ns):
            self._is_slowed = False

    def _find_impatience(self, now_ns: int) -> Finding | None:
        """Find why patience has run out; we wait for a machine that is in time now and then."""
        late_s = (now_ns - self._in_time_ns) * 1e-9
        return self._why if self._is_overdue and late_s > self._settings.patience_s else None
