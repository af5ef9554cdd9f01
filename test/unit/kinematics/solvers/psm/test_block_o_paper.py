"""The joints at which the inverse kinematics of the Block-O paper took joint 5 for another one."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry import se3

PSM = load_arm("PSM", instrument="400006")
ACTUAL, PRINTED = (20.0, 22.0, 1.5, 15.0, 30.0, 25.71), (20.0, 22.0, 1.5, 15.0, -150.0, 25.71)
"""Joints as printed, theta_actual and theta_IK: degrees, and an insertion without a unit."""


def joints(printed: tuple[float, ...], insertion: float) -> np.ndarray:
    q = np.radians(printed)
    q[2] = insertion
    return q


# As metres 1.5 is beyond the limits of a PSM; as decimetres it is not.
@pytest.mark.parametrize("insertion", [0.15, 1.5])
@pytest.mark.parametrize("has_seed", [True, False])
def test_the_papers_joints_come_back_with_joint_5_where_it_was(
    insertion: float, has_seed: bool
) -> None:
    q = joints(ACTUAL, insertion)
    result = PSM.inverse(PSM.forward(q), seed=q if has_seed else None)
    np.testing.assert_allclose(result.q, q, atol=1e-12)
    outside = [violation.joint for violation in result.violations]
    assert outside == (["insertion"] if insertion > 1.0 else [])


@pytest.mark.parametrize("insertion", [0.15, 1.5])
def test_what_the_paper_found_is_another_pose(insertion: float) -> None:
    T = PSM.forward(joints(ACTUAL, insertion))
    position_error, rotation_error = se3.pose_error(PSM.forward(joints(PRINTED, insertion)), T)
    # Half a turn about the wrist's axis, 9.1 mm beside it.
    assert position_error == pytest.approx(2 * 0.0091)
    assert rotation_error == pytest.approx(np.pi)
    for result in PSM.inverse_all(T):
        assert np.abs(result.q - joints(PRINTED, insertion)).max() > 1e-3
