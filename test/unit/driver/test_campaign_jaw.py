"""A campaign against the jaw: goals, cancels, stops, late ticks and echoes in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from campaign import PERIOD_NS, seeds
from jaw_rig import LIMITS, JawRig

from dvrk_kinematics.driver import Finding, Reason

_EVENTS = ("goal", "goal", "cancel", "hold", "busy", "error", "late", "jitter", "gap", "wait")
_LATE_NS = 50_000_000


def _do(jaw: JawRig, event: str, rng: np.random.Generator) -> None:
    arm, feedback = jaw.rig.arm, jaw.player.feedback()
    if event == "goal":
        jaw.accept(arm.now_ns, float(rng.uniform(*LIMITS.position.pairs[0])))
    elif event == "cancel" and feedback is not None:
        assert jaw.player.cancel(feedback.goal_id)
    elif event == "hold":
        jaw.player.stop(Finding(Reason.HOLD_REQUESTED))
    elif event == "busy":
        arm.say(is_busy=True)
        jaw.tick()
        arm.say(is_busy=False)
    elif event == "error":
        arm.say(errors=arm.state.errors + 1)
    elif event == "late":
        jaw.tick(int(rng.integers(PERIOD_NS, _LATE_NS)))
    elif event == "jitter":
        for _ in range(int(rng.integers(1, 40))):
            jaw.tick(int(rng.integers(100_000, 3 * PERIOD_NS)))
    elif event == "gap":
        jaw.tick(int(rng.integers(_LATE_NS + 1, 6 * _LATE_NS)))
    elif event == "wait":
        jaw.ticks(int(rng.integers(1, 60)))


@pytest.mark.parametrize("echo_ms", [0, 20, 100, 200])
def test_campaign_of_jaw_goals(make_rig: Callable[..., Any], echo_ms: int) -> None:
    accepted = 0
    for seed in seeds(12):
        rng = np.random.default_rng([seed, echo_ms])
        jaw = JawRig(make_rig, echo_ns=echo_ms * 1_000_000)
        for _ in range(60):
            _do(jaw, str(rng.choice(_EVENTS)), rng)
            jaw.ticks(int(rng.integers(0, 30)))
        jaw.ticks(400)
        jaw.check()
        assert jaw.player.feedback() is None
        assert [result.goal_id for result in jaw.results] == jaw.accepted, "one result a goal"
        accepted += len(jaw.accepted)
    assert accepted > 5 * len(seeds(12))
