"""A jog keeps to its line: starting, cruising, being slowed, stopping."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import JogCommand, JogSpace, Reason
from dvrk_kinematics.driver.jog.tip_walk import rigid_motion
from dvrk_kinematics.geometry import se3, so3

TOL_M = 1e-6
TOL_RAD = 1e-6
TILTED = np.array([0.2, -0.1, 0.15, 0.4, -0.3, 0.5])
SNAKE = np.array([0.2, -0.1, 0.15, 0.4, 0.1, -0.2, -0.2, 0.1])
TURNS = [
    [0.02, 0.01, -0.015, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.1, -0.25, 0.2],
    [0.01, -0.02, -0.01, 0.2, 0.1, -0.15],
    [0.09, 0.02, 0.03, 0.0, 0.0, 0.0],
]


def _jog(rig, space: JogSpace, velocity, ticks: int) -> None:
    """Jog with a command every fourth tick, then let go and come to rest."""
    for k in range(ticks):
        if k % 4 == 0:
            assert rig.player.jog(JogCommand(space, velocity), rig.arm.now_ns) is None
        rig.tick()
    rig.run()


def _check_line(arm, rig, space: JogSpace, velocity: np.ndarray) -> None:
    """Every commanded tip is on the exact motion, at the time along it that fits best."""
    T_start = arm.forward(rig.start)
    times = np.zeros(1)
    for sent in rig.arm.sent:
        T = arm.forward(sent.q)
        away = se3.inverse(T_start) @ T
        if velocity[3:].any():
            axis = velocity[3:] @ (np.eye(3) if space is JogSpace.TOOL else T_start[:3, :3])
            t = float(so3.log(away[:3, :3]) @ axis / (axis @ axis))
        else:
            t = float(velocity[:3] @ _displacement(T_start, T, space) / (velocity @ velocity))
        if space is JogSpace.TOOL:
            wanted = T_start @ se3.exp(velocity * t)
        else:
            wanted = se3.make(
                so3.exp(velocity[3:] * t) @ T_start[:3, :3], T_start[:3, 3] + velocity[:3] * t
            )
        distance, angle = se3.pose_error(wanted, T)
        assert distance < TOL_M and angle < TOL_RAD
        times = np.append(times, t)
    assert (np.diff(times) >= -1e-12).all(), "never back"
    assert times[-1] > 0.5


def _displacement(T_start: np.ndarray, T: np.ndarray, space: JogSpace) -> np.ndarray:
    moved = T[:3, 3] - T_start[:3, 3]
    return T_start[:3, :3].T @ moved if space is JogSpace.TOOL else moved


@pytest.mark.parametrize("velocity", TURNS, ids=["line", "turn", "both", "fast"])
@pytest.mark.parametrize("space", [JogSpace.BASE, JogSpace.TOOL])
@pytest.mark.parametrize("instrument", ["400006", "400117"])
def test_the_commanded_tip_keeps_to_what_was_asked_for(
    make_rig, instrument, space, velocity
) -> None:
    arm = load_arm("PSM", instrument=instrument)
    start = TILTED if len(arm.joint_names) == 6 else SNAKE
    rig = make_rig(model=arm, home=start)
    rig.start = start
    _jog(rig, space, np.array(velocity), 300)
    _check_line(arm, rig, space, np.array(velocity))
    rig.check_commands()
    assert rig.player.last_stop.reason is Reason.JOG_TIMEOUT


def test_a_tip_that_is_slowed_before_a_limit_stays_on_its_line(make_rig) -> None:
    arm = load_arm("PSM", instrument="400006")
    rig = make_rig(model=arm, home=TILTED)
    rig.start, velocity = TILTED, np.array([0.05, 0.03, -0.09, 0.0, 0.0, 0.0])
    _jog(rig, JogSpace.BASE, velocity, 500)
    assert abs(rig.arm.sent[-1].q[2] - 0.24) < 1e-5, "it came to the limit"
    _check_line(arm, rig, JogSpace.BASE, velocity)
    rig.check_commands()


def test_a_stream_of_equal_commands_moves_with_the_velocity_asked_for(make_rig) -> None:
    arm = load_arm("PSM", instrument="400006")
    rig = make_rig(home=TILTED)
    for space in (JogSpace.BASE, JogSpace.TOOL):
        velocity = np.array([0.01, 0.02, -0.01, 0.1, 0.0, 0.2])
        for _ in range(100):
            assert rig.player.jog(JogCommand(space, velocity), rig.arm.now_ns) is None
            rig.tick()
        q, qd = rig.player.commanded
        twist = arm.twist(q, qd)
        if space is JogSpace.TOOL:
            R = arm.forward(q)[:3, :3]
            twist = np.concatenate([R.T @ twist[:3], R.T @ twist[3:]])
        assert np.allclose(twist, velocity, atol=1e-9)
        assert rig.jog.slowed_by is None and rig.jog.factor == 1.0
        rig.run()


def test_an_endoscope_keeps_to_its_line_and_says_what_it_leaves_out(make_rig) -> None:
    arm = load_arm("ECM")
    start = np.array([0.1, 0.2, 0.12, 0.3])
    rig = make_rig(model=arm, home=start)
    velocity = np.array([0.01, -0.02, -0.01, 0.1, 0.05, 0.0])
    _jog(rig, JogSpace.BASE, velocity, 80)
    T = arm.forward(np.array([start, *[sent.q for sent in rig.arm.sent]]))
    moved = T[:, :3, 3] - T[0, :3, 3]
    along = velocity[:3] / np.linalg.norm(velocity[:3])
    assert np.linalg.norm(moved - np.outer(moved @ along, along), axis=1).max() < TOL_M
    assert moved[-1] @ along > 0.005
    rig.check_commands()
    assert rig.player.jog(JogCommand(JogSpace.BASE, velocity), rig.arm.now_ns) is None
    rig.tick()
    assert rig.jog.slowed_by.reason is Reason.JOG_PARTLY
    assert 0.0 < rig.jog.slowed_by.value < np.linalg.norm(velocity[3:])


def test_an_endoscope_rolls_about_its_shaft_without_moving_its_tip(make_rig) -> None:
    arm = load_arm("ECM")
    start = np.array([0.1, 0.2, 0.12, 0.3])
    rig = make_rig(model=arm, home=start)
    shaft = arm.jacobian(start)[3:, 3]
    _jog(rig, JogSpace.BASE, np.concatenate([np.zeros(3), 0.2 * shaft]), 100)
    assert rig.arm.sent[-1].q[3] - start[3] == pytest.approx(0.2 * 0.6, abs=0.06)
    assert np.allclose(rig.arm.sent[-1].q[:3], start[:3], atol=1e-9)


def test_an_arm_without_closed_form_offers_joints_only(make_rig) -> None:
    arm = load_arm("MTML")
    rig = make_rig(model=arm, home=0.5 * (arm.limits.lower + arm.limits.upper))
    refused = rig.player.jog(JogCommand(JogSpace.BASE, [0.01, 0, 0, 0, 0, 0]), rig.arm.now_ns)
    assert refused.reason is Reason.JOG_NOT_OFFERED
    rig.ticks(50)
    velocity = np.full(7, 0.1)
    _jog(rig, JogSpace.JOINTS, velocity, 100)
    start = 0.5 * (arm.limits.lower + arm.limits.upper)
    moved = rig.arm.sent[-1].q - start
    assert np.allclose(moved, moved[0]) and moved[0] > 0.02


def test_a_snake_whose_halves_differ_offers_joints_only(make_rig) -> None:
    arm = load_arm("PSM", instrument="400117")
    uneven = SNAKE + np.array([0, 0, 0, 0, 0.1, 0, 0, 0])
    rig = make_rig(model=arm, home=uneven)
    refused = rig.player.jog(JogCommand(JogSpace.BASE, [0.01, 0, 0, 0, 0, 0]), rig.arm.now_ns)
    assert refused.reason is Reason.JOG_NOT_OFFERED
    assert rig.player.is_idle and not rig.arm.sent


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 0.0099, 0.0101, 1.0, 3.0])
def test_plain_floats_move_as_the_exponential_does(scale) -> None:
    twist = np.array([0.3, -0.2, 0.5, 0.6, -0.64, 0.48])
    assert np.allclose(
        rigid_motion(twist.tolist(), scale, True), se3.exp(twist * scale), atol=1e-14
    )
    stays = rigid_motion(twist.tolist(), scale, False)
    assert np.allclose(stays[:3, :3], so3.exp(twist[3:] * scale), atol=1e-14)
    assert np.allclose(stays[:3, 3], twist[:3] * scale)
