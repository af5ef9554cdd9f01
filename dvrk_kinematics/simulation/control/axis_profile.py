"""Moves one joint to rest at its goal with constant accelerations, in least or given time.

A profile changes its speed to a cruise speed, keeps it, and brakes. The first phase may also brake
(a joint that is faster than it should be), and may turn the joint around.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

__all__ = ["AxisProfile", "least_time", "plan_axis"]


class AxisProfile(NamedTuple):
    """The three phases of one joint.

    Attributes:
        start: Position at t = 0 (rad, m).
        goal: Position at the end.
        speed: Velocity at t = 0 (rad/s, m/s).
        cruise: Velocity of the second phase.
        change: Acceleration of the first phase (rad/s^2, m/s^2).
        brake: Acceleration of the last phase.
        t_cruise: When the first phase ends (s).
        t_brake: When the second phase ends (s).
        t_end: When the joint rests (s).
    """

    start: float
    goal: float
    speed: float
    cruise: float
    change: float
    brake: float
    t_cruise: float
    t_brake: float
    t_end: float

    def at(self, t: float) -> tuple[float, float]:
        """Position and velocity at t seconds, t >= 0."""
        if t >= self.t_end:
            return self.goal, 0.0
        if t >= self.t_brake:
            left = self.t_end - t
            # Braking mirrors a start from the goal, so it ends exactly there.
            return self.goal + 0.5 * self.brake * left * left, -self.brake * left
        if t < self.t_cruise:
            return self.start + t * (self.speed + 0.5 * self.change * t), (
                self.speed + self.change * t
            )
        first = 0.5 * (self.speed + self.cruise) * self.t_cruise
        return self.start + first + self.cruise * (t - self.t_cruise), self.cruise


def _towards(distance: float, speed: float, a: float) -> float:
    """The direction of the cruise: towards the goal from where the joint could stop."""
    beyond = distance - speed * abs(speed) / (2.0 * a)
    if beyond == 0.0:
        return 1.0 if speed >= 0.0 else -1.0
    return 1.0 if beyond > 0.0 else -1.0


def least_time(distance: float, speed: float, v: float, a: float) -> float:
    """The least time that a joint needs.

    Args:
        distance: From here to the goal (rad, m).
        speed: Velocity now (rad/s, m/s); may exceed v.
        v: Largest speed of the cruise, above 0.
        a: Acceleration, above 0.

    Returns:
        Seconds.
    """
    sign = _towards(distance, speed, a)
    d, v0 = sign * distance, sign * speed
    if d == 0.0 and v0 == 0.0:
        return 0.0
    peak = sqrt(max(a * d + 0.5 * v0 * v0, 0.0))
    if peak <= v:
        return max((2.0 * peak - v0) / a, 0.0)
    if v0 <= v:
        cruise = d - (v * v - 0.5 * v0 * v0) / a
        return (2.0 * v - v0) / a + max(cruise, 0.0) / v
    return v0 / a + max(d - v0 * v0 / (2.0 * a), 0.0) / v


def plan_axis(start: float, goal: float, speed: float, a: float, duration: float) -> AxisProfile:
    """The profile that takes a given time, at full acceleration and the lowest cruise speed.

    Args:
        start: Position now (rad, m).
        goal: Where to rest.
        speed: Velocity now (rad/s, m/s).
        a: Acceleration, above 0.
        duration: How long (s): not less than ``least_time``.
    """
    if duration <= 0.0:
        return AxisProfile(start, goal, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    sign = _towards(goal - start, speed, a)
    d, v0 = sign * (goal - start), sign * speed
    rest = a * duration + v0
    inside = max(rest * rest - 4.0 * (a * d + 0.5 * v0 * v0), 0.0)
    cruise = 0.5 * (rest - sqrt(inside))
    change = a
    if cruise < v0:
        # Slower than now: brake first. Cruise the distance left between the two braking phases.
        change = -a
        spare = duration - v0 / a
        cruise = max(d - v0 * v0 / (2.0 * a), 0.0) / spare if spare > 0.0 else 0.0
        cruise = min(cruise, v0)
    t_cruise = max((cruise - v0) / change, 0.0)
    t_brake = max(duration - cruise / a, t_cruise)
    return AxisProfile(
        start, goal, speed, sign * cruise, sign * change, -sign * a, t_cruise, t_brake, duration
    )
