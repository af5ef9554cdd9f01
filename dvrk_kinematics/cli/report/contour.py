"""The planned paths that were played, and how the tip followed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dvrk_kinematics.cli.report.motion import MARGIN_S, crop
from dvrk_kinematics.cli.report.played_paths import PlayedPath
from dvrk_kinematics.cli.report.recording import RecordedJoints
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.joint_path import JointPath
from dvrk_kinematics.motion.planning.tip_follower import Following, TipFollower

__all__ = ["Contour", "follow_played"]

_SETTLE_S = 2.0 * MARGIN_S
"""How long after its planned end a motion is still compared with its plan."""

_MOST_POINTS = 1_000_000
"""Points at which we evaluate all plans together: half an hour every 2 ms."""


@dataclass(frozen=True, slots=True)
class Contour:
    """How a tip followed one path.

    Attributes:
        start: When the path began (s).
        following: The tip compared with it.
        planned_times: Times of the whole path (s), shape (M,).
        planned_q: Its joint positions (rad, m), shape (M, n).
        planned_tip: Its tip (m), shape (M, 3).
    """

    start: float
    following: Following
    planned_times: Array
    planned_q: Array
    planned_tip: Array

    @property
    def times(self) -> Array:
        """When the states were measured (s), shape (N,)."""
        return self.start + self.following.times

    @property
    def planned_s(self) -> float:
        """How long the path was to take (s)."""
        return float(self.planned_times[-1] - self.planned_times[0])


def follow_played(
    arm: Arm, played: Sequence[PlayedPath], measured: RecordedJoints
) -> tuple[Contour, ...]:
    """Compare the tip with each plan, from its start until it settles or the next one begins."""
    contours = []
    most = max(_MOST_POINTS // max(len(played), 1), 1000)
    for number, (path, start, end) in enumerate(played):
        following = [later.start for later in played[number + 1 : number + 2]]
        part = crop(measured, start, min([end + _SETTLE_S, *following]))
        if not len(part.times):
            continue
        joints = JointPath(path.times, path.position, path.velocity, path.acceleration)
        follower = TipFollower(arm, joints, most)
        contours.append(
            Contour(
                start=start,
                following=follower.follow(part.times - start, part.position),
                planned_times=start + follower.grid,
                planned_q=follower.planned_q,
                planned_tip=follower.planned_tip,
            )
        )
    return tuple(contours)
