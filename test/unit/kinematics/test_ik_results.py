"""What an answer of inverse kinematics says of itself: its status by name, and a reason."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.kinematics.result import BatchIkResult, IkStatus

PSM = load_arm("PSM")
DEEP = np.array([0.1, 0.2, 0.3, 0.0, 0.1, 0.0])
INSIDE = np.array([0.1, 0.2, 0.1, 0.0, 0.1, 0.0])


@pytest.mark.parametrize("status", IkStatus)
def test_a_status_prints_its_name(status: IkStatus) -> None:
    assert str(status) == f"{status}" == status.name
    assert f"{status:>30}".strip() == status.name
    assert status.name in repr(status)
    assert int(status) == status.value


def test_a_pose_outside_the_limits_has_a_reason() -> None:
    found = PSM.inverse(PSM.forward(DEEP))
    assert str(found.status) == "OUTSIDE_LIMITS"
    assert found.reason == "insertion would be 0.3000, allowed 0.0000 to 0.2400"
    for one in PSM.inverse_all(PSM.forward(DEEP)):
        assert one.ok or "would be" in one.reason
    assert PSM.inverse(PSM.forward(INSIDE)).reason == ""


def test_a_position_out_of_reach_has_a_reason() -> None:
    T = PSM.forward(DEEP)
    T[:3, 3] *= 5.0
    found = PSM.inverse(T, policy="position_first")
    assert found.status is IkStatus.POSITION_UNREACHABLE
    away = f"the nearest is {found.position_error:.3g} m away"
    assert f"the position is out of reach inside the limits, {away}" in found.reason


def test_a_pose_that_an_ecm_cannot_have_has_a_reason() -> None:
    found = load_arm("ECM").inverse(se3.translation([0.05, 0.0, -0.1]))
    assert found.status is IkStatus.UNREACHABLE
    assert "no joint positions give this pose, the best miss it by" in found.reason


def test_a_row_of_a_batch_says_what_the_pose_by_itself_says() -> None:
    T = PSM.forward(np.stack([INSIDE, DEEP, INSIDE]))
    T[2, 0, 3] = np.nan
    batch = PSM.inverse_batch(T)
    rows = [batch.row(i, PSM.limits) for i in range(3)]
    assert [row.ok for row in rows] == [True, False, False]
    assert rows[0].reason == ""
    assert rows[1].reason == PSM.inverse(T[1]).reason
    assert rows[2].reason == "what was given is not a valid pose"
    said = "<BatchIkResult of 3 poses: 1 OK, 1 OUTSIDE_LIMITS, 1 INVALID_INPUT>"
    assert repr(batch) == said
    assert repr(BatchIkResult.empty(0, 6)) == "<BatchIkResult of 0 poses: none>"
