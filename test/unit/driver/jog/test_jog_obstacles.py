"""What lies ahead of a jog slows it; what lies behind never does."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import JogCommand, JogSpace, Reason

START = np.array([0.1, -0.1, 0.15, 0.2, 0.1, -0.2])
NAMES = ("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw")
# Depth of the wrist is insertion - 0.0156 (dVRK: PSM and 400006 tables).
WRIST_AT_RCM = 0.0156


def _jog(rig, space: JogSpace, velocity, ticks: int) -> list[Reason | None]:
    """Jog for some ticks; gives what slowed each of them."""
    slowed = []
    for k in range(ticks):
        if k % 4 == 0:
            assert rig.player.jog(JogCommand(space, velocity), rig.arm.now_ns) is None
        rig.tick()
        slowed.append(None if rig.jog.slowed_by is None else rig.jog.slowed_by.reason)
    return slowed


def _alone(joint: int, velocity: float) -> np.ndarray:
    return velocity * np.eye(6)[joint]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("joint", range(6), ids=NAMES)
def test_a_joint_stops_smoothly_at_its_limit_and_says_so(make_rig, joint, sign) -> None:
    rig = make_rig(home=START, cannula=None)
    speed = 0.5 * rig.limits.velocity[joint] * sign
    slowed = _jog(rig, JogSpace.JOINTS, _alone(joint, speed), 800)
    position = rig.limits.position
    limit = (position.upper if sign > 0 else position.lower)[joint]
    assert 0.0 <= (limit - rig.arm.sent[-1].q[joint]) * sign < 2e-5
    assert slowed[-1] is Reason.LIMIT_AHEAD and slowed[0] is None
    assert rig.jog.slowed_by.joint == NAMES[joint] and rig.jog.factor == 0.0
    assert rig.jog.slowed_by.limit == limit
    rig.check_commands()
    # Away from it at once, with full speed, without letting go first.
    away = -min(abs(speed), 0.5) * sign
    assert set(_jog(rig, JogSpace.JOINTS, _alone(joint, away), 120)) == {None}
    assert rig.player.commanded.qd[joint] == pytest.approx(away)
    rig.check_commands()


def test_a_joint_at_its_limit_blocks_only_motion_further_into_it(make_rig) -> None:
    rig = make_rig(home=START)
    _jog(rig, JogSpace.JOINTS, _alone(0, 0.7), 600)
    at_limit = rig.arm.sent[-1].q.copy()
    assert set(_jog(rig, JogSpace.JOINTS, _alone(4, 0.3), 100)) == {None}
    assert rig.arm.sent[-1].q[4] > at_limit[4] + 0.1
    slowed = _jog(rig, JogSpace.JOINTS, _alone(4, -0.3) + _alone(0, 0.1), 100)
    assert slowed[-1] is Reason.LIMIT_AHEAD, "the whole motion stops, not one joint of it"
    assert rig.player.commanded.qd.any() == np.False_


@pytest.mark.parametrize("space", [JogSpace.JOINTS, JogSpace.BASE])
def test_from_beyond_a_limit_a_jog_leads_back_and_not_out(make_rig, space) -> None:
    outside = START.copy()
    outside[1] = 0.95
    rig = make_rig(home=outside)
    arm = load_arm("PSM", instrument="400006")
    inwards = _alone(1, -0.2)
    if space is JogSpace.BASE:
        inwards = arm.twist(outside, inwards)
    slowed = _jog(rig, space, -inwards, 40)
    assert slowed[-1] is Reason.LIMIT_AHEAD and rig.jog.slowed_by.joint == "pitch"
    assert np.allclose(rig.arm.sent[-1].q, outside, atol=1e-9)
    slowed = _jog(rig, space, inwards, 200)
    assert set(slowed) == {None}
    assert rig.arm.sent[-1].q[1] < 0.925025
    moved = np.array([sent.q[1] for sent in rig.arm.sent])
    assert (np.diff(moved) < 1e-9).all()


def test_the_wrist_stops_before_the_cannula_and_may_always_go_deeper(make_rig) -> None:
    rig = make_rig(home=START)
    slowed = _jog(rig, JogSpace.TOOL, np.array([0, 0, -0.05, 0, 0, 0]), 800)
    rule = rig.guard_settings.cannula
    assert slowed[-1] is Reason.CANNULA_AHEAD
    assert 0.0 <= rule.depth(rig.arm.sent[-1].q) - rule.min_depth_m < 2e-5
    assert set(_jog(rig, JogSpace.TOOL, np.array([0, 0, 0.05, 0, 0, 0]), 50)) == {None}
    rig.check_commands()
    shallow = START.copy()
    shallow[2] = 0.03
    rig = make_rig(home=shallow)
    assert _jog(rig, JogSpace.JOINTS, _alone(2, -0.02), 20)[-1] is Reason.CANNULA_AHEAD
    assert rig.arm.sent[-1].q[2] == pytest.approx(0.03, abs=1e-9)
    assert set(_jog(rig, JogSpace.JOINTS, _alone(2, 0.02), 100)) == {None}
    assert rig.arm.sent[-1].q[2] > 0.035


def test_a_jog_stops_before_a_singularity_and_leaves_it_again(make_rig) -> None:
    arm = load_arm("PSM", instrument="400006")
    home = np.array([0.0, 0.0, WRIST_AT_RCM + 0.02, 0.0, 0.0, 0.0])
    rig = make_rig(home=home, cannula=None)
    outwards = np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0])
    slowed = _jog(rig, JogSpace.BASE, outwards, 600)
    assert slowed[-1] is Reason.SINGULARITY_AHEAD and rig.player.commanded.qd.any() == np.False_
    sigma = np.linalg.svd(arm.jacobian(rig.arm.sent[-1].q), compute_uv=False)[-1]
    assert sigma == pytest.approx(2e-3, rel=0.05)
    assert set(_jog(rig, JogSpace.BASE, -outwards, 100)) == {None}
    rig.check_commands()


def test_in_the_middle_of_a_singular_region_a_jog_leads_out(make_rig) -> None:
    home = np.array([0.0, 0.0, WRIST_AT_RCM + 5e-4, 0.0, 0.0, 0.0])
    rig = make_rig(home=home, cannula=None)
    deeper = np.array([0.0, 0.0, -0.01, 0.0, 0.0, 0.0])
    assert _jog(rig, JogSpace.BASE, -deeper, 20)[-1] is Reason.SINGULARITY_AHEAD
    assert np.allclose(rig.arm.sent[-1].q, home, atol=1e-9)
    assert set(_jog(rig, JogSpace.BASE, deeper, 200)) == {None}
    assert rig.player.commanded.qd[2] == pytest.approx(0.01)


def test_a_line_past_the_remote_centre_is_slowed_as_a_whole(make_rig) -> None:
    """Close to the remote centre the shaft must swing fast to keep the tip on its line."""
    home = np.array([1.2, 0.0, WRIST_AT_RCM + 0.012 / np.cos(1.2), 0.0, 0.0, -1.2])
    rig = make_rig(home=home, cannula=None)
    slowed = _jog(rig, JogSpace.BASE, np.array([-0.08, 0.0, 0.0, 0.0, 0.0, 0.0]), 400)
    assert Reason.JOG_SPEED in slowed
    assert rig.arm.sent[-1].q[0] < -0.5, "it came past"
    rig.check_commands()


def test_commands_that_are_too_fast_are_scaled_as_a_whole(make_rig) -> None:
    rig = make_rig(home=START)
    slowed = _jog(rig, JogSpace.BASE, np.array([3.0, 0.0, -4.0, 0.0, 0.0, 0.0]), 40)
    assert set(slowed) == {Reason.JOG_SPEED}
    assert rig.jog.slowed_by.value == pytest.approx(5.0)
    assert rig.jog.slowed_by.limit == 0.1
    rig.check_commands()
    rig = make_rig(home=START)
    slowed = _jog(rig, JogSpace.JOINTS, np.full(6, 1e300), 40)
    assert set(slowed) == {Reason.JOG_SPEED}
    rig.check_commands()
    rates = rig.player.commanded.qd
    assert np.allclose(rates, rates[0]) and rates[0] > 0.0
