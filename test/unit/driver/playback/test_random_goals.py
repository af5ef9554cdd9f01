"""Whatever happens in whatever order: commands stay inside the limits, and goals end once."""

from __future__ import annotations

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dvrk_kinematics.driver import Finding, Reason

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
WAVE_S = np.arange(0.0, 2.0001, 0.05)


_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["point", "line", "wave", "cancel", "stall", "gap", "hold", "wait"]),
        st.integers(0, 10**6),
        st.integers(1, 80),
    ),
    min_size=3,
    max_size=12,
)


def _do(rig, event: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = HOME + rng.uniform(-1.0, 1.0, 6) * [0.8, 0.6, 0.08, 2.0, 0.8, 0.8]
    name = f"{event} at {rig.arm.now_ns}"
    if event == "point":
        rig.play(rng.uniform(0.001, 1.5), q=target, goal_id=name)
    elif event == "line":
        rig.play(1.0, 3.0, q=[target, HOME], goal_id=name)
    elif event == "wave":
        phase = np.pi * WAVE_S[:, None]
        q = HOME + 0.02 * (1.0 - np.cos(phase))
        qd = 0.02 * np.pi * np.sin(phase) * np.ones(6)
        qd[-1] = 0.0
        rig.play(*(WAVE_S + 0.3), q=q, qd=qd, goal_id=name)
    elif event == "cancel":
        feedback = rig.player.feedback()
        rig.player.cancel(None if feedback is None else feedback.goal_id)
    elif event == "stall":
        rig.tick(dt_ns=int(rng.integers(6, 50)) * 1_000_000)
    elif event == "gap":
        rig.tick(dt_ns=int(rng.integers(51, 200)) * 1_000_000)
    elif event == "hold":
        rig.player.stop(Finding(Reason.HOLD_REQUESTED))
    else:
        rig.play(1.0, q=target, goal_id=name, stamp_ns=rig.wall_ns + 100_000_000)


@given(events=_EVENTS)
# Shrinking would take minutes, and a list of events is readable as it is.
@settings(max_examples=12, phases=(Phase.explicit, Phase.generate))
def test_whatever_happens_commands_stay_inside_the_limits(make_rig, events) -> None:
    rig = make_rig()
    for event, seed, ticks in events:
        _do(rig, event, seed)
        rig.ticks(ticks)
    rig.run()
    rig.ticks(30)
    if rig.arm.sent:
        rig.check_commands()
        assert not rig.arm.sent[-1].qd.any()
    assert not rig.arm.holds
    asked = {result.goal_id for result in rig.results}
    assert len(asked) == len(rig.results), "one result a goal"
    count = len(rig.results)
    assert rig.play(2.0, q=HOME, goal_id="after") is None, "works afterwards"
    rig.run()
    assert rig.results[count].finding.reason is Reason.REACHED


def test_a_thousand_goals_replaced_at_random_times(make_rig) -> None:
    rig = make_rig()
    rng = np.random.default_rng(5)
    for k in range(1000):
        target = HOME + rng.uniform(-1.0, 1.0, 6) * [0.5, 0.5, 0.05, 2.0, 0.8, 0.8]
        assert rig.play(rng.uniform(0.01, 1.0), q=target, goal_id=k) is None
        rig.ticks(int(rng.integers(1, 6)))
    rig.run()
    assert [r.goal_id for r in rig.results] == list(range(1000))
    assert rig.results[-1].finding.reason is Reason.REACHED
    rig.check_commands()
