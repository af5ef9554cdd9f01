"""Moves of many joints that arrive together, like those of the dVRK's trajectory generator.

From rest, and all in the same direction, joints move in phase: scaled copies of the slowest. In
all other cases each joint takes its own full acceleration and a cruise speed that lets it arrive
together with the slowest. The dVRK's generator exceeds the speed limit for some distances; this
one never does.
"""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.simulation.control.axis_profile import AxisProfile, least_time, plan_axis

__all__ = ["JointTrajectory"]

_STILL = 1e-12
"""Displacements below this count as zero: rounding must not decide directions."""


class JointTrajectory:
    """A move of n joints.

    Args:
        start: Positions now (rad, m).
        speed: Velocities now (rad/s, m/s).
        goal: Where to rest.
        v: Largest speeds.
        a: Accelerations.

    Attributes:
        goal: Where it ends.
        duration: How long it takes (s).
    """

    __slots__ = ("_axes", "duration", "goal")

    def __init__(
        self,
        start: Sequence[float],
        speed: Sequence[float],
        goal: Sequence[float],
        v: Sequence[float],
        a: Sequence[float],
    ) -> None:
        self.goal = list(goal)
        away = [g - s for g, s in zip(goal, start, strict=True)]
        times = [least_time(*axis) for axis in zip(away, speed, v, a, strict=True)]
        self.duration = max(times)
        self._axes = _in_phase(start, speed, goal, away, v, a, times) or [
            plan_axis(s, g, v0, limit, self.duration)
            for s, g, v0, limit in zip(start, goal, speed, a, strict=True)
        ]

    def at(self, t: float) -> tuple[list[float], list[float]]:
        """Positions and velocities at t seconds after the start."""
        pairs = [axis.at(t) for axis in self._axes]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _in_phase(
    start: Sequence[float],
    speed: Sequence[float],
    goal: Sequence[float],
    away: Sequence[float],
    v: Sequence[float],
    a: Sequence[float],
    times: Sequence[float],
) -> list[AxisProfile] | None:
    """Scaled copies of the slowest joint, if the dVRK would make them and the limits allow it."""
    moving = [d for d in away if abs(d) > _STILL]
    if any(speed) or not moving or any((d > 0.0) != (moving[0] > 0.0) for d in moving):
        return None
    slowest = times.index(max(times))
    lead = plan_axis(start[slowest], goal[slowest], 0.0, a[slowest], times[slowest])
    axes = []
    for i, d in enumerate(away):
        scale = d / away[slowest]
        change, cruise = scale * lead.change, scale * lead.cruise
        if abs(change) > a[i] * (1.0 + 1e-9) or abs(cruise) > v[i] * (1.0 + 1e-9):
            return None
        axes.append(
            lead._replace(
                start=start[i], goal=goal[i], cruise=cruise, change=change, brake=-change
            )
        )
    return axes
