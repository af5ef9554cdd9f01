"""How far setpoint and measured position of each joint may differ before an arm faults.

The controller compares actuators. An arm's own joints have one actuator each; the four discs of an
instrument move its joints together, so a joint's tolerance follows from the coupling.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.schema import ArmModel, InstrumentModel

__all__ = ["COUPLED_AXES", "coupled_axis", "joint_pid_tolerance"]

COUPLED_AXES = ("roll", "wrist_pitch", "wrist_yaw")
"""The rows of a coupling, by joint; the joints of a snake have a number at the end."""


def coupled_axis(joint: str) -> int | None:
    """The row of a coupling for a joint of an instrument; None if there is none."""
    axis = joint.rstrip("0123456789")
    return COUPLED_AXES.index(axis) if axis in COUPLED_AXES else None


def joint_pid_tolerance(model: ArmModel) -> Array:
    """Tolerances of the joints, each moving alone (rad, m), shape (n,).

    Several joints off at the same time may fault earlier: use half to be safe.

    Args:
        model: The arm with its instrument.
    """
    tolerance = np.array([joint.pid_tolerance for joint in model.joints])
    instrument = model.instrument
    if instrument is not None:
        own = len(model.joints) - len(instrument.joints)
        tolerance[own:] = model.disc_tolerance / _largest_disc_turn(instrument)
    return frozen(tolerance)


def _largest_disc_turn(instrument: InstrumentModel) -> Array:
    """The most that a disc turns for one radian of each joint, shape (k,)."""
    if instrument.coupling is None:
        return np.ones(len(instrument.joints))
    axes = [coupled_axis(joint.name) for joint in instrument.joints]
    discs = np.abs(np.linalg.inv(instrument.coupling)).max(axis=0)
    # The two pitches of a snake add up on one disc, and so do its yaws.
    return np.array([discs[axis] * axes.count(axis) for axis in axes])
