"""Trajectories for a bridge to play, and how they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from trajectory_msgs.msg import JointTrajectoryPoint

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.common.conversions import to_flat
from dvrk_kinematics.ros.common.stamps import seconds_to_ns, write_stamp

TIMEOUT_S = 40.0
PSM_JOINTS = ("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw")
HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)


def at(**joints: float) -> np.ndarray:
    """Positions (rad, m) of a PSM that is homed, but for the joints given."""
    return np.array([joints.get(name, q) for name, q in zip(PSM_JOINTS, HOME, strict=True)])


def make_goal(
    joints: Sequence[str],
    times_s: Sequence[float],
    q: Any,
    qd: Any = None,
    stamp_ns: int = 0,
    path_tolerance: float = 0.0,
    goal_tolerance: float = 0.0,
    goal_time_s: float = 0.0,
) -> Any:
    """Make the goal of a trajectory.

    Args:
        joints: Names of its joints.
        times_s: Time from start of every point.
        q: Positions (rad, m) of every point.
        qd: Velocities of every point.
        stamp_ns: When to start; 0 for now.
        path_tolerance: For all joints (rad, m).
        goal_tolerance: For all joints (rad, m).
        goal_time_s: How long after its end the goal may be reached.
    """
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(joints)
    write_stamp(goal.trajectory.header.stamp, stamp_ns)
    for k, (seconds, position) in enumerate(zip(times_s, q, strict=True)):
        point = JointTrajectoryPoint(positions=to_flat(np.asarray(position, float)))
        if qd is not None:
            point.velocities = to_flat(np.asarray(qd[k], float))
        write_stamp(point.time_from_start, seconds_to_ns(seconds))
        goal.trajectory.points.append(point)
    for field, value in (("path_tolerance", path_tolerance), ("goal_tolerance", goal_tolerance)):
        if value:
            setattr(goal, field, [JointTolerance(name=n, position=value) for n in joints])
    write_stamp(goal.goal_time_tolerance, seconds_to_ns(goal_time_s))
    return goal


def check_ended(response: Any, reason: Reason, code: ResultCode, status: int = ABORTED) -> str:
    """Check that a result says why and how a trajectory ended; gives its text."""
    text: str = response.result.error_string
    assert text.startswith(reason.value), text
    assert response.result.error_code == code, (response.result.error_code, text)
    assert response.status == status, (response.status, text)
    return text
