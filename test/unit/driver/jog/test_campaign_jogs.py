"""A campaign against jogs: all spaces, decays, tiny and huge values, flips and late ticks."""

from __future__ import annotations

import numpy as np
import pytest
from campaign import PERIOD_NS, Track, seeds

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import Finding, JogCommand, JogSpace, Reason

_PSM_HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
_ODD = (0.0, 1e-9, 1e-12, 1e-154, 1e-170, 2.3e-308, 5e-324, 1e10, 1e154, 1e308, 1.7e308)
_NOT_NUMBERS = (np.nan, np.inf, -np.inf)
_LATE_NS = 50_000_000


def _make(make_rig, model: str, rng: np.random.Generator):
    if model == "PSM":
        home = _PSM_HOME + rng.uniform(-1.0, 1.0, 6) * [1.5, 0.9, 0.0, 4.4, 1.35, 1.35]
        home[2] = rng.uniform(0.06, 0.24)
        rule = {} if rng.random() < 0.6 else {"cannula": None}
        return make_rig(home=home, **rule), home
    arm = load_arm(model)
    home = rng.uniform(arm.limits.lower, arm.limits.upper)
    return make_rig(model=arm, home=home), home


def _velocity(rig, space: JogSpace, rng: np.random.Generator) -> np.ndarray:
    joints = len(rig.limits.names)
    if space is JogSpace.JOINTS:
        velocity = rng.normal(size=joints) * rig.limits.velocity
    else:
        velocity = rng.normal(size=6) * [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]
        # Lines and turns alone, too.
        velocity[:3] *= rng.random() < 0.8
        velocity[3:] *= rng.random() < 0.6
    return velocity * rng.choice([0.01, 0.1, 1.0, 10.0])


def _commands(rig, space: JogSpace, rng: np.random.Generator, ticks: int) -> list[np.ndarray]:
    """What a client sends: steady, fading away, flipping, or with odd numbers in it."""
    velocity = _velocity(rig, space, rng)
    kind = rng.choice(["steady", "fade", "flip", "noise", "odd", "not a number"])
    if kind == "fade":
        return [velocity * rng.choice([1e-1, 0.9]) ** k for k in range(ticks)]
    if kind == "flip":
        every = int(rng.integers(1, 12))
        return [velocity * (-1.0) ** (k // every) for k in range(ticks)]
    if kind == "noise":
        return [velocity + _velocity(rig, space, rng) for _ in range(ticks)]
    if kind in ("odd", "not a number"):
        values = _ODD if kind == "odd" else _NOT_NUMBERS
        for j in range(len(velocity)):
            if rng.random() < 0.5:
                velocity[j] = rng.choice(values) * rng.choice([-1.0, 1.0])
    return [velocity] * ticks


class _Watched:
    """A rig whose ticks are late now and then, and the track of what it sends."""

    def __init__(self, rig, home: np.ndarray, rng: np.random.Generator) -> None:
        self.rig, self.track, self._rng = rig, Track(home), rng
        self._count, self._is_idle, self._even = 0, True, 0

    def tick(self) -> None:
        rng, rig = self._rng, self.rig
        chance = rng.random()
        dt_ns = PERIOD_NS
        self._even += 1
        if chance < 0.03 and self._even > rig.arm.echo_delay:
            # The rig's arm reports some ticks later, however long they take.
            dt_ns = int(rng.integers(PERIOD_NS, _LATE_NS))
            self._even = 0
        elif chance < 0.10:
            dt_ns = int(rng.integers(100_000, 3 * PERIOD_NS))
        before_ns = rig.arm.now_ns
        rig.tick(dt_ns)
        for sent in rig.arm.sent[self._count :]:
            if self._is_idle:
                self.track.begin(before_ns)
            self.track.add(sent.now_ns, sent.q)
        self._count, self._is_idle = len(rig.arm.sent), rig.player.is_idle


@pytest.mark.parametrize(("model", "count"), [("PSM", 6), ("ECM", 2)])
def test_campaign_of_jogs(make_rig, model: str, count: int) -> None:
    for seed in seeds(count):
        rng = np.random.default_rng([seed, count])
        rig, home = _make(make_rig, model, rng)
        watched = _Watched(rig, home, rng)
        for _ in range(6):
            space = JogSpace(rng.choice(["base", "tool", "joints"]))
            velocities = _commands(rig, space, rng, int(rng.integers(1, 80)))
            every = int(rng.choice([1, 1, 4, 20]))
            for k, velocity in enumerate(velocities):
                if k % every == 0:
                    answer = rig.player.jog(JogCommand(space, velocity), rig.arm.now_ns)
                    is_number = np.isfinite(velocity).all()
                    assert is_number or answer.reason is Reason.NOT_FINITE_JOG
                watched.tick()
            if rng.random() < 0.2:
                rig.player.stop(Finding(Reason.HOLD_REQUESTED))
        while not rig.player.is_idle:
            watched.tick()
        watched.track.check(rig.limits)
        assert not rig.arm.holds, rig.player.last_stop
        assert not rig.arm.sent or not rig.arm.sent[-1].qd.any()
