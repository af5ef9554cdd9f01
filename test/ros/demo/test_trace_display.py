"""What a demonstration shows while a figure is planned and traced."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from dvrk_kinematics_interfaces.action import TraceBlockO

from dvrk_kinematics.ros.common.terminal import Terminal
from dvrk_kinematics.ros.demo.trace_display import TraceDisplay

pytestmark = pytest.mark.ros


def feedback(planned: float = 1.0, traced: float = 0.0, scaling: float = 1.0) -> Any:
    told = TraceBlockO.Feedback(
        planning_progress=planned, progress=traced, position_error=3e-9, speed_scaling=scaling
    )
    told.plan.ok = planned == 1.0
    return told


class Shown:
    """A display whose time is set by hand."""

    def __init__(self) -> None:
        self.stream, self.plans, self.now_s = StringIO(), [], 0.0
        self.display = TraceDisplay(Terminal(self.stream), self.plans.append, lambda: self.now_s)

    def show(self, *told: Any) -> str:
        for one in told:
            self.display.show(one)
        return self.stream.getvalue()


def test_planning_that_is_soon_done_is_not_shown() -> None:
    shown = Shown()
    shown.now_s = 0.9
    assert shown.show(feedback(0.1), feedback(0.8)) == "" and shown.plans == []
    text = shown.show(feedback(), feedback(traced=0.5))
    assert "planning" not in text and "tracing   0 %" in text and "tracing  50 %" in text
    assert len(shown.plans) == 1 and shown.plans[0].ok
    shown.display.end(is_traced=True)
    assert "tracing 100 %" in shown.stream.getvalue()


def test_planning_that_takes_longer_is_shown() -> None:
    shown = Shown()
    shown.show(feedback(0.1))
    shown.now_s = 1.1
    assert "planning  40 %" in shown.show(feedback(0.4)) and shown.plans == []
    shown.display.end(is_traced=False)
    assert "tracing" not in shown.stream.getvalue(), "it was refused"


@pytest.mark.parametrize(
    ("scaling", "words"),
    [(1.0, "off its path by 0.003 um"), (0.0, "0.003 um, paused"), (0.4, "at 40 % of its speed")],
)
def test_slow_downs_and_pauses_are_named(scaling: float, words: str) -> None:
    assert words in Shown().show(feedback(traced=0.5, scaling=scaling))


def test_a_tip_without_an_error_is_on_its_path_and_one_before_the_start_is_not_told() -> None:
    told = feedback(traced=0.5)
    told.position_error = 1e-13
    assert "tip on its path" in Shown().show(told)
    assert "path" not in Shown().show(feedback(traced=0.0))
