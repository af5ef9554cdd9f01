"""Pinocchio as an outside oracle; its model is built here from the same table rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dvrk_kinematics import Arm
from dvrk_kinematics.models.schema import Convention, JointKind

pin = pytest.importorskip("pinocchio")


def _x_part(alpha: float, a: float) -> Any:
    return pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0.0, 0.0]))


def _z_part(theta: float, d: float) -> Any:
    return pin.SE3(pin.utils.rotate("z", theta), np.array([0.0, 0.0, d]))


def _build(arm: Arm) -> tuple[Any, int]:
    """A pinocchio model with one joint a moving row, and the index of the tip's frame."""
    model = pin.Model()
    parent, placement = 0, pin.SE3(arm.model.T_base)
    modified = arm.model.convention is Convention.MODIFIED
    for row in arm.model.chain:
        x, z = _x_part(row.alpha, row.a), _z_part(row.theta, row.d)
        before, after = (x * z, pin.SE3.Identity()) if modified else (z, x)
        placement = placement * before
        if row.kind is not JointKind.FIXED:
            turns = row.kind is JointKind.REVOLUTE
            joint = pin.JointModelRZ() if turns else pin.JointModelPZ()
            parent = model.addJoint(parent, joint, placement, str(row.joint))
            placement = pin.SE3.Identity()
        placement = placement * after
    tip = placement * pin.SE3(arm.model.T_tip_offset)
    frame = model.addFrame(pin.Frame("tip", parent, tip, pin.FrameType.OP_FRAME))
    return model, frame


def test_poses_jacobians_and_rates_equal_pinocchios(
    every_arm: Arm, rng: np.random.Generator
) -> None:
    model, tip = _build(every_arm)
    data = model.createData()
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for q in every_arm.random_q(rng, 20):
        qd, qdd = rng.uniform(-1, 1, (2, len(q)))
        pin.forwardKinematics(model, data, q, qd, qdd)
        pin.updateFramePlacements(model, data)
        assert np.abs(data.oMf[tip].homogeneous - every_arm.forward(q)).max() < 1e-13
        J = pin.computeFrameJacobian(model, data, q, tip, axes)
        assert np.abs(J - every_arm.jacobian(q)).max() < 1e-13
        V = pin.getFrameVelocity(model, data, tip, axes).vector
        assert np.abs(V - every_arm.twist(q, qd)).max() < 1e-13
        A = pin.getFrameClassicalAcceleration(model, data, tip, axes).vector
        assert np.abs(A - every_arm.acceleration(q, qd, qdd)).max() < 1e-12
