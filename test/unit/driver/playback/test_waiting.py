"""Goals that wait for their stamp: they start then, or are forgotten if the arm is taken away."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.driver import OperatingState, Reason

FAR = np.array([0.4, 0.3, 0.2, 1.0, 0.3, -0.3])


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ({"operating_state": OperatingState.DISABLED}, Reason.LEFT_ENABLED),
        ({"operating_state": OperatingState.FAULT}, Reason.FAULT),
        ({"is_busy": True}, Reason.BUSY),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_a_goal_that_waits_does_not_outlive_the_arm_being_taken_away(rig, cause, reason) -> None:
    """It once moved an arm that had been disabled and enabled again by somebody else."""
    before = rig.arm.state
    assert rig.play(0.5, q=FAR, stamp_ns=rig.wall_ns + 2_000_000_000) is None
    rig.ticks(10)
    rig.arm.say(**cause)
    rig.ticks(5)
    (result,) = rig.results
    assert result.finding.reason is reason
    assert rig.player.is_idle and rig.player.last_stop is result.finding
    rig.arm.say(operating_state=before.operating_state, is_busy=False)
    rig.ticks(600)
    assert not rig.arm.order


def test_a_goal_that_waits_outlives_a_state_that_is_late_for_a_moment(rig) -> None:
    assert rig.play(0.5, q=FAR, stamp_ns=rig.wall_ns + 1_000_000_000) is None
    rig.arm.is_reporting = False
    rig.ticks(20)
    rig.arm.is_reporting = True
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED


def test_a_goal_whose_arm_is_silent_when_its_time_comes_ends_after_the_patience(rig) -> None:
    assert rig.play(0.5, q=FAR, stamp_ns=rig.wall_ns + 100_000_000) is None
    rig.arm.is_reporting = False
    rig.ticks(40)
    assert not rig.results
    rig.ticks(420)
    (result,) = rig.results
    assert result.finding.reason is Reason.STALE_STATE
    assert rig.player.last_stop is result.finding and not rig.arm.order
