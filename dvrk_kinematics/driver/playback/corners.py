"""Motions from straight segments, with corners rounded within the allowed acceleration.

A velocity jump would need an infinite acceleration. So around each knot the velocity changes
evenly from one segment's to the next one's, over a window that is just long enough. The motion
passes a knot within (change of velocity) x (window) / 8, and follows the straight segments exactly
outside the windows. It begins half a window early and ends half a window late, from and to rest.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.driver.playback.knots import Knots
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.driver.tolerances import SAME_TIME_S
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.spline import Spline

__all__ = ["round_corners"]


def round_corners(knots: Knots, limits: MotionLimits) -> Spline | Finding:
    """Turn straight segments into a motion that can be followed.

    Args:
        knots: Positions inside the joint limits, and increasing times. If the first is at t = 0
            the motion begins at rest, otherwise with the velocity of the first segment.
        limits: The accelerations that may be used.

    Returns:
        The motion as cubics, or the corner that is too sharp for the time around it.
    """
    times, q = knots.times_s, knots.position
    if len(times) == 1:
        return Spline(times, q, np.zeros_like(q))
    h = knots.steps_s
    slopes = np.diff(q, axis=0) / h[:, None]
    rest = np.zeros((1, q.shape[1]))
    before = np.concatenate([rest if knots.starts_at_zero else slopes[:1], slopes])
    after = np.concatenate([slopes, rest])
    needed = np.abs(after - before) / (2.0 * limits.acceleration)
    half = needed.max(axis=1)
    lack = half[:-1] + half[1:] - h
    if not (lack <= 0.0).all():
        k = int(np.argmax(lack))
        corner = k if half[k] >= half[k + 1] else k + 1
        j = int(np.argmax(needed[corner]))
        change = abs(float(after[corner, j] - before[corner, j]))
        return Finding(
            Reason.GOAL_ACCELERATION_LIMIT,
            f"the velocity changes by {change:.6g} at point {corner}; give the points velocities, "
            "or more time",
            limits.names[j],
            change / float(h[k]),
            float(limits.acceleration[j]),
        )
    return _assemble(
        np.stack([times - half, times + half], axis=1).ravel(),
        np.stack([q - before * half[:, None], q + after * half[:, None]], axis=1),
        np.stack([before, after], axis=1),
    )


def _assemble(times: Array, q: Array, qd: Array) -> Spline:
    """Join the two ends of every window, without those that coincide."""
    keep = np.concatenate([[True], np.diff(times) > SAME_TIME_S])
    joints = q.shape[-1]
    return Spline(times[keep], q.reshape(-1, joints)[keep], qd.reshape(-1, joints)[keep])
