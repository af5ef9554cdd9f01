"""Messages on how well a tip followed its path, and a clock for the position on the path."""

from __future__ import annotations

from dvrk_kinematics_interfaces.msg import TipError

from dvrk_kinematics.motion.planning.tip_follower import FollowingFigures

__all__ = ["HeardPathClock", "make_tip_error", "read_tip_error"]

_RUN_ON_S = 0.25
"""How long we extrapolate a path's time after the last feedback (s). A longer silence means that
the player stalls: the arm waits, and is no further along its path than this."""


class HeardPathClock:
    """Tracks the time on a path from the player's occasional feedback.

    One thread may note while another reads.

    Attributes:
        newest_s: Time on the path in the last feedback (s); 0 before the first.
        begin_ns: When the path began (ns), from the first feedback: later the path's time may
            fall behind the clock, but never gets ahead. None before the first.
    """

    def __init__(self) -> None:
        self.newest_s = 0.0
        self.begin_ns: int | None = None
        self._newest = 0, 0

    def note(self, stamp_ns: int, time_ns: int) -> int:
        """Note that the path's time was ``time_ns`` when the clock was at ``stamp_ns``.

        Returns:
            When the path began (ns).
        """
        self._newest = stamp_ns, time_ns
        self.newest_s = time_ns * 1e-9
        if self.begin_ns is None:
            self.begin_ns = stamp_ns - time_ns
        return self.begin_ns

    def read(self, stamp_ns: int) -> float:
        """Time on the path at a current stamp (s): extrapolated, but not through a stall."""
        heard_ns, time_ns = self._newest
        return (time_ns + min(stamp_ns - heard_ns, round(_RUN_ON_S * 1e9))) * 1e-9


def make_tip_error(figures: FollowingFigures | None = None) -> TipError:
    """The figures as a message; NaN if the tip was not measured, since 0 would look perfect."""
    told = figures or FollowingFigures()
    return TipError(
        contour_position_max=told.position_max,
        contour_position_rms=told.position_rms,
        contour_rotation_max=told.rotation_max,
        contour_rotation_rms=told.rotation_rms,
        lag_max=told.lag_max,
        lag_mean=told.lag_mean,
        samples=told.samples,
    )


def read_tip_error(message: TipError) -> FollowingFigures:
    """The figures in a message."""
    return FollowingFigures(
        position_max=message.contour_position_max,
        position_rms=message.contour_position_rms,
        rotation_max=message.contour_rotation_max,
        rotation_rms=message.contour_rotation_rms,
        lag_max=message.lag_max,
        lag_mean=message.lag_mean,
        samples=message.samples,
    )
