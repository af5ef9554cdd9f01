"""Whatever a jog is told in whatever order: no setpoint leaves the limits."""

from __future__ import annotations

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import Finding, JogCommand, JogSpace, Reason, StopKind
from dvrk_kinematics.driver.jog.rate_profile import find_rate_profile

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
_PERIOD_S = 0.005
_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["base", "base", "tool", "tool", "joints", "zero", "stall", "goal", "hold"]
        ),
        st.integers(0, 10**6),
        st.integers(1, 100),
    ),
    min_size=4,
    max_size=14,
)


def _velocity(rig, space: JogSpace, rng: np.random.Generator) -> np.ndarray:
    joints = len(rig.limits.names)
    if space is JogSpace.JOINTS:
        return rng.normal(size=joints) * rig.limits.velocity
    velocity = rng.normal(size=6) * [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]
    # Lines and turns alone, too.
    velocity[:3] *= rng.random() < 0.8
    velocity[3:] *= rng.random() < 0.6
    return velocity * rng.choice([0.1, 1.0, 10.0])


def _do(rig, event: str, seed: int, ticks: int) -> None:
    rng = np.random.default_rng(seed)
    if event in ("base", "tool", "joints"):
        space = JogSpace(event)
        command = JogCommand(space, _velocity(rig, space, rng))
        for k in range(ticks):
            if k % 5 == 0:
                rig.player.jog(command, rig.arm.now_ns)
            rig.tick()
        return
    if event == "zero":
        rig.player.jog(JogCommand(JogSpace.BASE, np.zeros(6)), rig.arm.now_ns)
    elif event == "goal":
        joints = len(rig.limits.names)
        rig.play(0.5, q=rig.player.commanded.q + rng.uniform(-0.02, 0.02, joints), goal_id=seed)
    elif event == "hold":
        rig.player.stop(Finding(Reason.HOLD_REQUESTED))
    elif rig.arm.sent:
        rig.tick(dt_ns=int(rng.integers(6, 80)) * 1_000_000)
    rig.ticks(ticks)


def _check_differences(rig) -> None:
    """Velocity and acceleration of the positions themselves, where ticks were even."""
    t = np.array([sent.now_ns for sent in rig.arm.sent]) * 1e-9
    q = np.array([sent.q for sent in rig.arm.sent])
    even = np.abs(np.diff(t) - _PERIOD_S) < 1e-9
    rates = np.diff(q, axis=0) / np.diff(t)[:, None]
    limits, slack = rig.limits, 1.0 + 1e-3
    assert (np.abs(rates) <= limits.velocity * slack).all()
    both = even[1:] & even[:-1]
    accelerations = np.abs(np.diff(rates, axis=0)[both]) / _PERIOD_S
    assert (accelerations <= limits.acceleration * slack + 1e-4).all()


def _play_all(rig, events) -> None:
    for event, seed, ticks in events:
        _do(rig, event, seed, ticks)
    rig.run()
    if rig.arm.sent:
        rig.check_commands()
        if not any(event == "goal" for event, _, _ in events):
            _check_differences(rig)
        assert not rig.arm.sent[-1].qd.any()
    assert not rig.arm.holds, rig.player.last_stop
    kind = None if rig.player.last_stop is None else rig.player.last_stop.stop_kind
    assert kind in (None, StopKind.PATH_STOP)


# Shrinking would take minutes, and a list of events is readable as it is.
@given(start=st.integers(0, 10**6), events=_EVENTS)
@settings(max_examples=15, phases=(Phase.explicit, Phase.generate))
def test_whatever_happens_a_psm_stays_inside_its_limits(make_rig, start, events) -> None:
    rng = np.random.default_rng(start)
    home = HOME + rng.uniform(-1.0, 1.0, 6) * [1.5, 0.9, 0.0, 4.4, 1.35, 1.35]
    home[2] = rng.uniform(0.06, 0.24)
    has_rule = bool(rng.random() < 0.6)
    _play_all(make_rig(home=home, **({} if has_rule else {"cannula": None})), events)


@given(start=st.integers(0, 10**6), events=_EVENTS)
@settings(max_examples=5, phases=(Phase.explicit, Phase.generate))
def test_whatever_happens_an_ecm_stays_inside_its_limits(make_rig, start, events) -> None:
    arm = load_arm("ECM")
    home = np.random.default_rng(start).uniform(arm.limits.lower, arm.limits.upper)
    _play_all(make_rig(model=arm, home=home), events)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30)
def test_a_profile_can_be_followed_to_rest(seed) -> None:
    """On a way of constant curve: braking as the profile says keeps the accelerations."""
    rng = np.random.default_rng(seed)
    slope, curve = rng.normal(size=4), rng.normal(size=4)
    velocity, acceleration = rng.uniform(0.5, 2.0, 4), rng.uniform(0.5, 2.0, 4)
    places = np.linspace(0.0, 1.0, 41)
    middle = 0.5 * (places[1:] + places[:-1])[:, None]
    slopes, curves = slope + curve * middle, np.tile(curve, (40, 1))
    profile = find_rate_profile(places.tolist(), slope, slopes, curves, velocity, acceleration)
    squares = np.array(profile.squares)
    x, span = squares[0], 2.0 * float(places[1])
    for k in range(40):
        # All changes of the rate that the accelerations allow half-way, where x is x + u span / 2.
        inner = slopes[k] + 0.5 * span * curve
        ends = np.sort([(sign * acceleration - curve * x) / inner for sign in (-1.0, 1.0)], axis=0)
        least, most = ends[0].max(), ends[1].min()
        u = min(most, (squares[k + 1] - x) / span)
        assert least <= u + 1e-6, "it can slow down enough"
        assert (np.abs(slopes[k]) * np.sqrt(x) <= velocity * 1.001).all()
        x = max(x + span * max(u, least), 0.0)
    assert x < 1e-6, "at rest at the end"
