"""Why a goal was refused or a motion ended, as data that reaches result, diagnostics and log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from types import MappingProxyType

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.cannula import CannulaRule

__all__ = [
    "HOLD_ALONE",
    "OWN_CODES",
    "STOPS",
    "Finding",
    "Reason",
    "ResultCode",
    "StopKind",
    "tell_shallow",
]


class StopKind(Enum):
    """The three ways to stop."""

    PATH_STOP = "path stop"
    """Decelerate along the path, inside the acceleration limits."""

    FREEZE = "freeze"
    """Send the last setpoint once more with zero velocity, then hold; see ``HOLD_ALONE``."""

    SILENCE = "silence"
    """Send nothing at all: the arm is not ours to command."""


class ResultCode(IntEnum):
    """The error codes of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class Reason(Enum):
    """Why something was refused or stopped; the value is its name in results and diagnostics."""

    # Ends that are nobody's fault.
    REACHED = "goal reached"
    REPLACED = "replaced by a new goal"
    CANCELLED = "cancelled"
    HOLD_REQUESTED = "hold was asked for"

    # Goals that are invalid, or cannot be played inside the limits.
    EMPTY_GOAL = "goal without points"
    TOO_MANY_POINTS = "too many points"
    WRONG_SHAPE = "wrong number of values"
    NOT_FINITE_GOAL = "goal holds NaN or infinity"
    TIMES_NOT_INCREASING = "times do not increase"
    TIMES_TOO_CLOSE = "times too close to be told apart"
    STAMP_IN_PAST = "header stamp in the past"
    BAD_TOLERANCE = "tolerance that means nothing"
    END_VELOCITY = "the last point is not at rest"
    START_TOO_FAR = "the first point is too far from the setpoint"
    START_VELOCITY = "the first point moves but the arm rests"
    GOAL_POSITION_LIMIT = "goal leaves the joint limits"
    GOAL_VELOCITY_LIMIT = "goal exceeds a velocity limit"
    GOAL_ACCELERATION_LIMIT = "goal exceeds an acceleration limit"
    GOAL_IN_CANNULA = "goal brings the wrist into the cannula"
    PREPARATION_FAILED = "the goal could not be looked at"

    # Jogs: what refuses, slows or ends them.
    JOG_NOT_OFFERED = "such a jog is not offered"
    NOT_FINITE_JOG = "jog command holds NaN or infinity"
    UNKNOWN_FRAME = "a frame cannot be used"
    GOAL_PLAYING = "a goal is being played"
    JOG_NOT_RELEASED = "the jog was stopped and must be let go of first"
    JOG_SPEED = "jog slowed to what speed or acceleration allow"
    JOG_PARTLY = "the arm cannot do all of the jog"
    JOG_CHANGES = "a jog of another kind comes to rest first"
    JOG_ENDED = "jog ended"

    # Nobody has allowed this arm to move yet.
    NOT_ENABLED_HERE = "not enabled through the bridge"
    NOT_SIMULATED = "not a simulated arm"

    # The arm is not ours to command.
    LEFT_ENABLED = "not ENABLED"
    FAULT = "FAULT"
    NOT_HOMED = "not homed"
    BUSY = "busy"
    FOREIGN_SETPOINT = "somebody else moves the setpoint"
    FOREIGN_COMMAND = "somebody else commands the arm"
    NOT_READY_LONG_ENOUGH = "not ready for long enough"

    # The arm's reports cannot be trusted, or it does not follow.
    STALE_STATE = "state is stale"
    STAMP_ZERO = "state has no stamp"
    STAMP_WENT_BACK = "stamps of the state went back"
    NOT_FINITE_STATE = "state holds NaN or infinity"
    WRONG_JOINTS = "the arm reports other joints, or not as many values"
    WRONG_TOOL = "the arm reports another tool"
    TRACKING_ERROR = "tracking error"
    ARM_BEHIND = "the arm does not take its setpoints"
    ARM_ERROR = "the arm reported an error"

    # A setpoint that must not be sent.
    NOT_FINITE_SETPOINT = "setpoint holds NaN or infinity"
    SETPOINT_LIMIT = "setpoint outside the joint limits"
    SETPOINT_VELOCITY = "setpoint too fast"
    SETPOINT_STEP = "setpoint step near the PID tolerance"
    SETPOINT_IN_CANNULA = "setpoint brings the wrist into the cannula"

    # The motion cannot or must not go on as planned.
    PATH_TOLERANCE = "path tolerance violated"
    GOAL_TOLERANCE = "goal tolerance violated"
    GAP = "gap in the control loop"
    LOOP_FAILED = "the control loop failed"
    JOG_TIMEOUT = "jog commands ceased"
    JOG_FAILED = "the jog failed by an error of its own"
    LIMIT_AHEAD = "limit ahead"
    CANNULA_AHEAD = "cannula ahead"
    SINGULARITY_AHEAD = "singularity ahead"


STOPS: MappingProxyType[Reason, StopKind] = MappingProxyType(
    {
        Reason.CANCELLED: StopKind.PATH_STOP,
        Reason.HOLD_REQUESTED: StopKind.PATH_STOP,
        Reason.PATH_TOLERANCE: StopKind.PATH_STOP,
        Reason.GAP: StopKind.PATH_STOP,
        Reason.JOG_TIMEOUT: StopKind.PATH_STOP,
        Reason.LIMIT_AHEAD: StopKind.PATH_STOP,
        Reason.CANNULA_AHEAD: StopKind.PATH_STOP,
        Reason.SINGULARITY_AHEAD: StopKind.PATH_STOP,
        Reason.STALE_STATE: StopKind.FREEZE,
        Reason.STAMP_ZERO: StopKind.FREEZE,
        Reason.STAMP_WENT_BACK: StopKind.FREEZE,
        Reason.NOT_FINITE_STATE: StopKind.FREEZE,
        Reason.WRONG_JOINTS: StopKind.FREEZE,
        Reason.WRONG_TOOL: StopKind.FREEZE,
        Reason.TRACKING_ERROR: StopKind.FREEZE,
        Reason.ARM_BEHIND: StopKind.FREEZE,
        Reason.ARM_ERROR: StopKind.FREEZE,
        Reason.NOT_FINITE_SETPOINT: StopKind.FREEZE,
        Reason.SETPOINT_LIMIT: StopKind.FREEZE,
        Reason.SETPOINT_VELOCITY: StopKind.FREEZE,
        Reason.SETPOINT_STEP: StopKind.FREEZE,
        Reason.SETPOINT_IN_CANNULA: StopKind.FREEZE,
        Reason.LOOP_FAILED: StopKind.FREEZE,
        Reason.JOG_FAILED: StopKind.FREEZE,
        Reason.LEFT_ENABLED: StopKind.SILENCE,
        Reason.FAULT: StopKind.SILENCE,
        Reason.NOT_HOMED: StopKind.SILENCE,
        Reason.BUSY: StopKind.SILENCE,
        Reason.FOREIGN_SETPOINT: StopKind.SILENCE,
        Reason.FOREIGN_COMMAND: StopKind.SILENCE,
        Reason.NOT_SIMULATED: StopKind.SILENCE,
    }
)
"""How each cause stops a motion. docs/safety.md shows the same table."""

HOLD_ALONE = frozenset({Reason.WRONG_JOINTS, Reason.WRONG_TOOL, Reason.ARM_BEHIND})
"""Causes that freeze without a setpoint: for another tool it means another posture, and for an arm
that is far behind it is a jump.
"""

OWN_CODES: MappingProxyType[Reason, ResultCode] = MappingProxyType(
    {
        Reason.REACHED: ResultCode.SUCCESSFUL,
        Reason.CANCELLED: ResultCode.SUCCESSFUL,
        Reason.WRONG_SHAPE: ResultCode.INVALID_JOINTS,
        Reason.WRONG_JOINTS: ResultCode.INVALID_JOINTS,
        Reason.STAMP_IN_PAST: ResultCode.OLD_HEADER_TIMESTAMP,
        Reason.GOAL_TOLERANCE: ResultCode.GOAL_TOLERANCE_VIOLATED,
    }
)
"""Codes of reasons that have their own; ``Finding.code`` maps the rest."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason with its data.

    Attributes:
        reason: Why.
        detail: What was found and what is allowed, with units.
        joint: Name of the joint concerned, empty if there is none.
        value: The number found, None if there is none.
        limit: The number allowed, None if there is none.
    """

    reason: Reason
    detail: str = ""
    joint: str = ""
    value: float | None = None
    limit: float | None = None

    @property
    def stop_kind(self) -> StopKind | None:
        """How this stops a motion; None for a reason that only refuses or ends one."""
        return STOPS.get(self.reason)

    @property
    def code(self) -> ResultCode:
        """The action's error code: a stop on the way is a path that was not followed."""
        own = OWN_CODES.get(self.reason)
        if own is not None:
            return own
        if self.reason in STOPS:
            return ResultCode.PATH_TOLERANCE_VIOLATED
        return ResultCode.INVALID_GOAL

    def __str__(self) -> str:
        text = self.reason.value
        if self.joint:
            text += f", {self.joint}"
        if self.value is not None:
            text += f" = {self.value:.6g}"
        if self.limit is not None:
            text += f" (allowed {self.limit:.6g})"
        return f"{text}: {self.detail}" if self.detail else text


def tell_shallow(reason: Reason, rule: CannulaRule, q: Array) -> Finding:
    """Report that joint positions (rad, m), shape (n,), bring the wrist too close to the RCM."""
    what = "distance of the wrist from the RCM (m)"
    return Finding(reason, what, "", rule.depth(q), rule.min_depth_m)
