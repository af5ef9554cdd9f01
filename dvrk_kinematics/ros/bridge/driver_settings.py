"""Makes the driver's settings from a bridge's parameters and the model of its arm."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.driver import (
    GoalTolerances,
    GuardSettings,
    MotionLimits,
    PlayerSettings,
    StateTolerance,
    make_cannula_rule,
    make_motion_limits,
)
from dvrk_kinematics.driver.jog.jog_command import JogSettings
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.models.pid_tolerance import joint_pid_tolerance
from dvrk_kinematics.models.schema import JointKind
from dvrk_kinematics.ros.bridge.settings import BridgeSettings

__all__ = ["make_guard_settings", "make_jog_settings", "make_player_settings"]

_SLIDE = 0.1
"""Factor from a tolerance in rad to that of a slide in m."""

_STOPPED_RAD_S = 0.01
"""Speed below which a joint counts as stopped after arrival (rad/s)."""


def make_guard_settings(arm: Arm, settings: BridgeSettings) -> GuardSettings:
    """The limits that the guard of an arm enforces.

    Raises:
        InvalidInput: The arm has joints without a motor, or a parameter is invalid.
    """
    instrument = arm.model.instrument
    depth = settings.cannula_depth
    return GuardSettings(
        limits=make_motion_limits(arm, settings.velocity_scale, settings.acceleration_scale),
        pid_tolerance=joint_pid_tolerance(arm.model),
        tool="" if instrument is None else instrument.number or instrument.name,
        cannula=make_cannula_rule(arm, depth) if depth > 0.0 else None,
        jaw=_jaw_limits(arm, settings),
        max_age_s=settings.max_age,
        patience_s=max(settings.patience, 1e-9),
        # A setpoint may be as old as a state when the arm's report of it arrives.
        echo_s=max(0.5, 2.0 * settings.max_age),
        ready_s=max(settings.ready_time, 1e-9),
        feed_forward=settings.feed_forward,
    )


def make_player_settings(arm: Arm, settings: BridgeSettings) -> PlayerSettings:
    """How to play goals."""
    unit = _unit(arm)
    still = np.zeros_like(unit)
    return PlayerSettings(
        start_tolerance=settings.start_tolerance * unit,
        tolerances=GoalTolerances(
            StateTolerance(settings.path_tolerance * unit, still),
            StateTolerance(settings.goal_tolerance * unit, still),
            settings.goal_time,
        ),
        stopped_velocity=_STOPPED_RAD_S * unit,
        period_s=1.0 / settings.rate,
        max_gap_s=max(settings.max_gap, 3.0 / settings.rate),
        max_points=settings.max_points,
    )


def make_jog_settings(settings: BridgeSettings) -> JogSettings:
    """How to handle jog commands."""
    return JogSettings(timeout_s=settings.jog_timeout)


def _unit(arm: Arm) -> Array:
    return np.array(
        [_SLIDE if joint.kind is JointKind.PRISMATIC else 1.0 for joint in arm.model.joints]
    )


def _jaw_limits(arm: Arm, settings: BridgeSettings) -> MotionLimits | None:
    jaw = arm.jaw
    if jaw is None:
        return None
    return MotionLimits(
        JointLimits([jaw.name], [jaw.lower], [jaw.upper]),
        np.array([jaw.velocity * settings.velocity_scale]),
        np.array([jaw.acceleration * settings.acceleration_scale]),
    )
