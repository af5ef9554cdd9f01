"""The life of a jog: its commands, its dead-man's time, and what else may stop it."""

from __future__ import annotations

import numpy as np
import pytest
from campaign import Track

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import (
    HOLD_ALONE,
    STOPS,
    Finding,
    JogCommand,
    JogSettings,
    JogSpace,
    OperatingState,
    Player,
    Reason,
    StopKind,
)
from dvrk_kinematics.driver.jog.jog_command import SMALLEST_SPEED
from dvrk_kinematics.driver.jog.jog_motion import JogMotion
from dvrk_kinematics.driver.jog.tip_walk import TipWalk
from dvrk_kinematics.errors import InvalidInput

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
ALONG = np.array([0.03, 0.02, -0.01, 0.0, 0.0, 0.1])
TILTED = np.array([0.2, -0.1, 0.15, 0.4, -0.3, 0.5])
ZERO = JogCommand(JogSpace.BASE, np.zeros(6))


def _command(rig, velocity=ALONG, space: JogSpace = JogSpace.BASE) -> Finding | None:
    return rig.player.jog(JogCommand(space, velocity), rig.arm.now_ns)


def _stream(rig, ticks: int) -> list[Finding | None]:
    """Command before each tick; gives the answers."""
    answers = []
    for _ in range(ticks):
        answers.append(_command(rig))
        rig.tick()
    return answers


def _track(rig, start: np.ndarray = HOME) -> Track:
    track = Track(start)
    for sent in rig.arm.sent:
        track.add(sent.now_ns, sent.q)
    return track


def _moving(make_rig, **changes):
    rig = make_rig(**changes)
    assert set(_stream(rig, 60)) == {None}
    assert np.abs(rig.player.commanded.qd).max() > 0.1
    return rig


def test_a_jog_without_commands_stops_along_its_line_after_its_time(make_rig) -> None:
    rig = _moving(make_rig)
    last_ns = rig.arm.now_ns - 5_000_000
    speed = np.abs(rig.player.commanded.qd).max()
    while np.abs(rig.player.commanded.qd).max() > 0.9 * speed:
        rig.tick()
    assert 0.2 < (rig.arm.now_ns - last_ns) * 1e-9 < 0.23
    rig.run()
    assert rig.player.last_stop.reason is Reason.JOG_TIMEOUT
    assert str(rig.player.last_stop) == "jog commands ceased: none came for 0.2 s"
    rig.ticks(200)
    count = len(rig.arm.sent)
    rig.ticks(100)
    assert len(rig.arm.sent) == count and not rig.arm.sent[-1].qd.any()
    assert not rig.arm.holds
    rig.check_commands()


def test_the_dead_mans_time_is_a_setting(make_rig) -> None:
    rig = _moving(make_rig, timeout_s=0.05)
    rig.ticks(9)
    assert rig.player.last_stop is None and rig.jog.is_active
    rig.run(at_most=100)
    assert rig.player.last_stop.detail == "none came for 0.05 s"


def test_a_zero_command_stops_and_ends_the_jog(make_rig) -> None:
    rig = _moving(make_rig)
    assert rig.player.jog(ZERO, rig.arm.now_ns) is None
    assert rig.run(at_most=100) > 5
    assert rig.player.last_stop.reason is Reason.JOG_ENDED
    rig.check_commands()


def test_zero_commands_start_nothing(make_rig) -> None:
    rig = make_rig()
    for _ in range(20):
        assert rig.player.jog(ZERO, rig.arm.now_ns) is None
        rig.tick()
    assert not rig.arm.sent and rig.player.is_idle


def test_a_new_command_while_it_stops_goes_on_without_a_jump(make_rig) -> None:
    rig = _moving(make_rig)
    rig.player.jog(ZERO, rig.arm.now_ns)
    rig.ticks(5)
    assert rig.jog.is_active
    assert set(_stream(rig, 100)) == {None}
    rig.run()
    rig.check_commands()


@pytest.mark.parametrize("space", list(JogSpace))
@pytest.mark.parametrize("tiny", [1e-9, 1e-10, 1e-154, 1e-170, 2.3e-308, 5e-324])
def test_a_jog_that_fades_away_ends_no_bridge(make_rig, space, tiny) -> None:
    """Its square underflowed to zero, and was divided by."""
    rig = make_rig()
    for scale in (1.0, tiny, -tiny):
        for _ in range(10):
            for axis in (0, 3):
                velocity = np.zeros(6)
                velocity[axis] = 0.1 * scale
                assert _command(rig, velocity, space) is None
                rig.tick()
    rig.run()
    assert rig.player.last_stop.reason is Reason.JOG_ENDED
    rig.check_commands()


@pytest.mark.parametrize("space", list(JogSpace))
def test_the_smallest_speed_is_the_least_that_moves_anything(make_rig, space) -> None:
    rig = make_rig()
    below = JogCommand(space, np.full(6, 0.99 * SMALLEST_SPEED))
    assert below.is_zero and not JogCommand(space, np.full(6, SMALLEST_SPEED)).is_zero
    assert not JogCommand(space, np.full(6, np.nan)).is_zero
    assert rig.player.jog(below, rig.arm.now_ns) is None
    rig.tick()
    assert not rig.arm.sent and rig.player.is_idle


@pytest.mark.parametrize("space", list(JogSpace))
def test_a_velocity_beyond_all_measure_keeps_its_direction(make_rig, space) -> None:
    huge = np.finfo(float).max
    rig = make_rig()
    velocity = np.array([1.0, -0.5, 0.25, 0.0, 0.0, 0.0]) * huge
    for _ in range(140):
        assert _command(rig, velocity, space) is None
        rig.tick()
    speed = rig.player.commanded.qd
    assert rig.jog.slowed_by.reason is Reason.JOG_SPEED
    if space is JogSpace.JOINTS:
        # The insertion's speed is the least that is allowed.
        assert np.allclose(speed, [0.4, -0.2, 0.1, 0.0, 0.0, 0.0])
    else:
        assert np.abs(speed).max() > 0.1
    rig.run()
    rig.check_commands()


@pytest.mark.parametrize(
    ("space", "velocity", "reason"),
    [
        (JogSpace.BASE, [0.1, 0, 0, 0, 0, np.nan], Reason.NOT_FINITE_JOG),
        (JogSpace.TOOL, [np.inf, 0, 0, 0, 0, 0], Reason.NOT_FINITE_JOG),
        (JogSpace.BASE, [0.1, 0, 0], Reason.WRONG_SHAPE),
        (JogSpace.JOINTS, [0.1] * 7, Reason.WRONG_SHAPE),
        (JogSpace.JOINTS, [], Reason.WRONG_SHAPE),
    ],
)
def test_bad_commands_never_move_and_do_not_keep_a_jog_alive(
    make_rig, space, velocity, reason
) -> None:
    rig = make_rig()
    for _ in range(20):
        assert _command(rig, np.array(velocity, float), space).reason is reason
        rig.tick()
    assert not rig.arm.sent
    rig = _moving(make_rig)
    for _ in range(100):
        assert _command(rig, np.array(velocity, float), space).reason is reason
        rig.tick()
    assert rig.player.is_idle and rig.player.last_stop.reason is Reason.JOG_TIMEOUT


def test_a_jog_is_refused_while_a_goal_plays_and_starts_only_after_letting_go(make_rig) -> None:
    rig = make_rig()
    assert rig.play(0.5, q=HOME + 0.02) is None
    for _ in range(150):
        refused = _command(rig)
        assert refused.reason in (Reason.GOAL_PLAYING, Reason.JOG_NOT_RELEASED)
        rig.tick()
    assert rig.results[-1].finding.reason is Reason.REACHED
    assert rig.player.is_idle, "a stick that is still held moves nothing"
    assert rig.player.jog(ZERO, rig.arm.now_ns) is None
    assert set(_stream(rig, 5)) == {None}
    assert rig.jog.is_active


def test_a_goal_takes_over_from_a_jog_without_a_jump(make_rig) -> None:
    rig = _moving(make_rig)
    assert rig.play(1.0, q=HOME + 0.03) is None
    assert rig.player.last_stop.reason is Reason.REPLACED and not rig.jog.is_active
    assert _command(rig).reason is Reason.GOAL_PLAYING
    rig.run()
    assert rig.results[-1].finding.reason is Reason.REACHED
    assert np.allclose(rig.arm.sent[-1].q, HOME + 0.03)
    rig.check_commands()


def test_a_goal_that_waits_takes_over_when_its_time_has_come(make_rig) -> None:
    rig = make_rig()
    assert rig.play(1.0, q=HOME + 0.03, stamp_ns=rig.wall_ns + 300_000_000) is None
    assert set(_stream(rig, 50)) == {None}
    _stream(rig, 20)
    assert not rig.jog.is_active
    rig.run()
    assert rig.results[-1].finding.reason is Reason.REACHED
    rig.check_commands()


def test_a_goal_that_is_refused_leaves_the_jog_alone(make_rig) -> None:
    rig = _moving(make_rig)
    assert rig.play(1.0, q=HOME + 5.0) is not None
    assert set(_stream(rig, 10)) == {None}
    assert rig.jog.is_active


def test_hold_stops_a_jog_and_holds_although_commands_go_on(make_rig) -> None:
    rig = _moving(make_rig)
    rig.player.stop(Finding(Reason.HOLD_REQUESTED))
    answers = _stream(rig, 200)
    assert {a.reason for a in answers} <= {Reason.HOLD_REQUESTED, Reason.JOG_NOT_RELEASED}
    assert rig.player.is_idle and rig.player.last_stop.reason is Reason.HOLD_REQUESTED
    rig.ticks(50)
    assert _command(rig) is None, "it was let go of"
    rig.check_commands()


def test_a_gap_slows_a_jog_along_its_line_and_it_goes_on_while_commands_come(make_rig) -> None:
    rig = _moving(make_rig)
    fast = np.abs(rig.arm.sent[-1].qd).max()
    rig.tick(dt_ns=60_000_000)
    _stream(rig, 15)
    assert np.abs(rig.arm.sent[-1].qd).max() < 0.9 * fast
    assert rig.player.scaling.slow_downs == 1
    slow = np.abs(rig.arm.sent[-1].qd).max()
    _stream(rig, 60)
    assert np.abs(rig.arm.sent[-1].qd).max() > 1.2 * slow
    rig.run()
    assert rig.player.last_stop.reason is Reason.JOG_TIMEOUT
    rig.check_commands()


def test_a_user_slows_and_pauses_a_jog_along_its_line(make_rig) -> None:
    rig = _moving(make_rig)
    fast = np.abs(rig.arm.sent[-1].qd).max()
    rig.player.scaling.wish = 0.5
    _stream(rig, 60)
    assert np.abs(rig.arm.sent[-1].qd).max() == pytest.approx(0.5 * fast, rel=0.1)
    rig.player.scaling.wish = 0.0
    _stream(rig, 100)
    assert not rig.arm.sent[-1].qd.any() and rig.jog.is_active
    rig.player.scaling.wish = 1.0
    _stream(rig, 100)
    assert np.abs(rig.arm.sent[-1].qd).max() > 0.9 * fast
    rig.check_commands()


def test_a_late_tick_of_a_jog_is_made_up_for_without_a_kink(make_rig) -> None:
    rig = _moving(make_rig)
    before = rig.arm.sent[-1]
    _command(rig)
    rig.tick(dt_ns=45_000_000)
    step = np.abs(rig.arm.sent[-1].q - before.q)
    speed = np.maximum(np.abs(before.qd), np.abs(rig.arm.sent[-1].qd))
    assert (step <= 1.001 * speed * 0.045).all(), "never fast"
    _stream(rig, 20)
    rig.run()
    rig.check_commands()
    _track(rig).check(rig.limits)


def test_no_joint_is_jogged_so_fast_that_a_late_tick_steps_too_far(make_rig) -> None:
    """Such a step would freeze the arm, where being late is all that happened."""
    home = HOME - [0.0, 0.0, 0.0, 0.0, 0.0, 1.3]
    rig = make_rig(home=home)
    spin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 8.0])
    allowed = rig.guard_settings.step_fraction * rig.guard_settings.pid_tolerance[5]
    for _ in range(60):
        assert _command(rig, spin, JogSpace.JOINTS) is None
        rig.tick()
    assert rig.player.commanded.qd[5] * 0.05 == pytest.approx(0.5 * allowed)
    assert rig.jog.slowed_by.reason is Reason.JOG_SPEED
    for late_ns in (49_000_000, 5_000_000, 5_000_000):
        assert _command(rig, spin, JogSpace.JOINTS) is None
        rig.tick(late_ns)
    assert rig.jog.is_active and not rig.arm.holds
    rig.run()
    _track(rig, home).check(rig.limits)


def test_a_wrist_in_the_cannula_never_turns_back_into_it(make_rig) -> None:
    """It went on for a nanometre after it had turned, and was frozen for that."""
    rig = make_rig(home=np.array([0.1, 0.2, 0.03, 0.0, 0.0, 0.0]))
    deeper = np.array([0.05, 0.0, 0.02, 0.0, 0.0, 0.0])
    for velocity in (deeper, -deeper, deeper, -deeper):
        for _ in range(37):
            assert _command(rig, velocity, JogSpace.JOINTS) is None
            rig.tick()
    assert not rig.arm.holds and rig.jog.slowed_by.reason is Reason.CANNULA_AHEAD
    assert (np.diff([sent.q[2] for sent in rig.arm.sent]) >= 0.0).all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"errors": 1, "last_error": "PSM1: no luck"}, Reason.ARM_ERROR),
        ({"tool": "PROGRASP_FORCEPS:400093[..]"}, Reason.WRONG_TOOL),
        ({"operating_state": OperatingState.FAULT}, Reason.FAULT),
        ({"operating_state": OperatingState.PAUSED}, Reason.LEFT_ENABLED),
        ({"is_busy": True}, Reason.BUSY),
    ],
)
def test_what_freezes_or_silences_a_goal_does_so_to_a_jog(make_rig, change, reason) -> None:
    rig = _moving(make_rig)
    rig.arm.say(**change)
    count = len(rig.arm.sent)
    answers = _stream(rig, 60)
    assert rig.player.last_stop.reason is reason and rig.player.is_idle
    if reason in HOLD_ALONE:
        assert len(rig.arm.sent) == count and rig.arm.order[-1] == "hold"
    elif STOPS[reason] is StopKind.FREEZE:
        assert len(rig.arm.sent) == count + 1 and rig.arm.order[-2:] == ["servo_jp", "hold"]
        assert not rig.arm.sent[-1].qd.any()
    else:
        assert len(rig.arm.sent) == count and not rig.arm.holds
    assert None not in answers[1:], "nothing goes on by itself"


def test_a_jog_needs_an_arm_that_is_ready(make_rig) -> None:
    rig = make_rig(is_ready=False)
    rig.tick()
    assert _command(rig).reason is Reason.NOT_READY_LONG_ENOUGH
    rig.ticks(60)
    assert _command(rig) is None


def test_another_kind_of_jog_waits_until_the_first_is_at_rest(make_rig) -> None:
    rig = _moving(make_rig)
    joints, answers = np.full(6, 0.05), []
    for _ in range(100):
        answers.append(_command(rig, joints, JogSpace.JOINTS))
        rig.tick()
    assert answers[0].reason is Reason.JOG_CHANGES and answers[-1] is None
    assert np.allclose(rig.player.commanded.qd, joints)
    rig.check_commands()


def test_a_player_without_a_jog_says_so(make_rig) -> None:
    rig = make_rig()
    player = Player(rig.guard, rig.settings)
    assert player.jog(ZERO, rig.arm.now_ns).reason is Reason.JOG_NOT_OFFERED


@pytest.mark.parametrize(
    "change",
    [{"timeout_s": 0.0}, {"max_linear": np.nan}, {"joint_fraction": 1.5}, {"reserve": 1.0}],
)
def test_settings_without_meaning_are_refused(change) -> None:
    with pytest.raises(InvalidInput, match=next(iter(change))):
        JogSettings(**change)


def _scaled_ticks(rig, scale: float, count: int, velocity=ALONG, space=JogSpace.BASE) -> None:
    """Ticks with a scale, past the player."""
    for _ in range(count):
        assert rig.jog.command(JogCommand(space, velocity), rig.arm.now_ns) is None
        rig.arm.now_ns += 5_000_000
        rig.arm.publish()
        rig.guard.observe(rig.arm.now_ns)
        assert rig.jog.tick(rig.arm.now_ns, scale) is None


@pytest.mark.parametrize("space", list(JogSpace))
def test_a_scale_slows_a_jog_along_its_line_and_inside_its_accelerations(make_rig, space) -> None:
    rig = make_rig(home=TILTED)
    arm = load_arm("PSM", instrument="400006")
    track = Track(TILTED)

    def speeds() -> np.ndarray:
        q, qd = rig.jog.commanded
        if space is JogSpace.JOINTS:
            return qd
        twist = arm.twist(q, qd)
        R = arm.forward(q)[:3, :3] if space is JogSpace.TOOL else np.eye(3)
        return np.concatenate([R.T @ twist[:3], R.T @ twist[3:]])

    for scale in (1.0, 0.5, 0.0, 1e-3, 1.0, 1e-300, 0.25, float("nan"), 2.0, -1.0):
        _scaled_ticks(rig, scale, 60, ALONG, space)
        part = min(max(0.0, scale), 1.0)
        assert np.allclose(speeds(), (0.0 if part < 1e-9 else part) * ALONG, atol=1e-9)
        assert rig.jog.is_active, "it goes on when the scale rises"
    for sent in rig.arm.sent:
        track.add(sent.now_ns, sent.q)
    track.check(rig.limits)


def test_a_jog_at_rest_by_its_scale_still_ends_without_commands(make_rig) -> None:
    rig = make_rig()
    _scaled_ticks(rig, 1.0, 40)
    _scaled_ticks(rig, 0.0, 40)
    assert not rig.jog.commanded.qd.any()
    rig.run(at_most=200)
    assert rig.player.last_stop.reason is Reason.JOG_TIMEOUT


def test_the_tip_stays_on_its_line_at_any_scale(make_rig) -> None:
    rig = make_rig(home=TILTED)
    arm = load_arm("PSM", instrument="400006")
    velocity = np.array([0.05, -0.02, -0.04, 0.0, 0.0, 0.0])
    for scale in np.random.default_rng(3).random(60):
        _scaled_ticks(rig, float(scale), 5, velocity)
    T = arm.forward(np.array([TILTED, *[sent.q for sent in rig.arm.sent]]))
    moved, along = T[:, :3, 3] - T[0, :3, 3], velocity[:3] / np.linalg.norm(velocity[:3])
    assert np.linalg.norm(moved - np.outer(moved @ along, along), axis=1).max() < 1e-9
    assert moved[-1] @ along > 0.01


@pytest.mark.parametrize("where", ["step", "understand"])
def test_a_jog_that_fails_freezes_the_arm_and_ends_nothing_else(
    make_rig, monkeypatch, where
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("no luck")

    rig = _moving(make_rig)
    kind = JogMotion if where == "step" else TipWalk
    with monkeypatch.context() as patch:
        patch.setattr(kind, where, fail)
        _command(rig)
        rig.tick()
    assert rig.player.is_idle and rig.arm.order[-2:] == ["servo_jp", "hold"]
    assert isinstance(rig.jog.error, ZeroDivisionError)
    assert _command(rig).reason is Reason.JOG_NOT_RELEASED
    rig.ticks(60)
    assert set(_stream(rig, 10)) == {None}
    assert rig.jog.is_active
