"""A campaign of goals that are played: cancelled, replaced, slowed, paused, late, held."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from campaign import PERIOD_NS, Track, seeds

from dvrk_kinematics.driver import Finding, Reason

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
SPREAD = np.array([0.8, 0.6, 0.06, 2.0, 0.8, 0.8])
EVENTS = ("point", "point", "lines", "wave", "cancel", "hold", "wish", "pause", "silent", "wait")
WAVE_S = np.arange(0.0, 2.0001, 0.05)


class Motions:
    """One run: a rig, what happens to it, and the track of what was sent."""

    def __init__(self, make_rig, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rig = make_rig()
        self.track = Track(HOME)
        self._count = self._holds = 0
        self._is_new = True

    def do(self, event: str) -> None:
        rig, rng = self.rig, self.rng
        name = f"{event} {rig.arm.now_ns}"
        target = HOME + rng.uniform(-1.0, 1.0, 6) * SPREAD
        if event == "point":
            rig.play(rng.uniform(0.001, 1.5), q=target, goal_id=name)
        elif event == "lines":
            rig.play(1.0, 3.0, 5.0, q=[target, HOME, 0.5 * (target + HOME)], goal_id=name)
        elif event == "wave":
            phase = np.pi * WAVE_S[:, None]
            q, qd = HOME + 0.02 * (1.0 - np.cos(phase)), 0.02 * np.pi * np.sin(phase) * np.ones(6)
            qd[-1] = 0.0
            rig.play(*(WAVE_S + 0.3), q=q, qd=qd, goal_id=name)
        elif event == "cancel":
            feedback = rig.player.feedback()
            rig.player.cancel(None if feedback is None else feedback.goal_id)
        elif event == "hold":
            rig.player.stop(Finding(Reason.HOLD_REQUESTED))
        elif event == "silent":
            rig.arm.is_reporting = False
            self.run(int(rng.integers(1, 40)))
            rig.arm.is_reporting = True
        else:
            wishes = {"wish": rng.uniform(), "pause": 0.0, "wait": 1.0}
            rig.player.scaling.wish = float(wishes[event])
        self.run(int(rng.integers(1, 80)))

    def run(self, count: int) -> None:
        for _ in range(count):
            chance = self.rng.random()
            dt_ns = PERIOD_NS
            if chance < 0.02:
                dt_ns = int(self.rng.integers(PERIOD_NS, 150_000_000))
            elif chance < 0.10:
                dt_ns = int(self.rng.integers(100_000, 3 * PERIOD_NS))
            self.tick(dt_ns)

    def tick(self, dt_ns: int) -> None:
        rig = self.rig
        before_ns = rig.arm.now_ns
        rig.tick(dt_ns)
        for sent in rig.arm.sent[self._count :]:
            if self._is_new:
                self.track.begin(before_ns)
            self.track.add(sent.now_ns, sent.q)
            self._is_new = False
        self._count = len(rig.arm.sent)
        if len(rig.arm.holds) != self._holds:
            # A freeze stops at once: what comes later begins at rest.
            self._holds = len(rig.arm.holds)
            self._is_new = True

    def finish(self) -> None:
        self.rig.player.scaling.wish = 1.0
        for _ in range(6000):
            if self.rig.player.is_idle:
                return
            self.tick(PERIOD_NS)
        raise AssertionError("a goal does not end")


@pytest.mark.parametrize("part", range(4))
def test_campaign_of_motions(make_rig, part: int) -> None:
    ended: Counter[Reason] = Counter()
    worst = 0.0
    for seed in seeds(5):
        motions = Motions(make_rig, 4 * seed + part)
        for _ in range(12):
            motions.do(str(motions.rng.choice(EVENTS)))
        motions.finish()
        worst = max(worst, motions.track.check(motions.rig.limits))
        ended.update(result.finding.reason for result in motions.rig.results)
        ids = [result.goal_id for result in motions.rig.results]
        assert len(set(ids)) == len(ids), "one result a goal"
    assert worst <= 1.01
    assert ended[Reason.REACHED] > 0
    # Setpoints that an arm does not report for so long that the next would be a jump still stop.
    usual = {Reason.REACHED, Reason.REPLACED, Reason.CANCELLED, Reason.HOLD_REQUESTED}
    assert set(ended) <= usual | {Reason.ARM_BEHIND}, ended
