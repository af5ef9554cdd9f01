"""Shows the planning and tracing of a figure in a terminal, from the feedback of its goal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from dvrk_kinematics.motion.planning.tip_follower import FINEST
from dvrk_kinematics.ros.common.terminal import ProgressBar, Terminal

__all__ = ["TraceDisplay"]

_SOON_S = 1.0
"""Planning that takes no longer than this is not shown."""


class TraceDisplay:
    """Shows the goal of one figure.

    Args:
        terminal: Where to write.
        on_plan: Called once with the flight plan, before anything moves.
        clock: Returns the time (s).
    """

    def __init__(
        self,
        terminal: Terminal,
        on_plan: Callable[[Any], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._planning = ProgressBar(terminal, "planning")
        self._tracing = ProgressBar(terminal, "tracing")
        self._on_plan = on_plan
        self._clock = clock
        self._begun_s = clock()
        self._is_planning_shown = self._is_planned = False

    def show(self, feedback: Any) -> None:
        """Show a TraceBlockO.Feedback."""
        if not feedback.plan.ok:
            self._show_planning(feedback.planning_progress)
            return
        if not self._is_planned:
            self._end_planning()
            self._is_planned = True
            self._on_plan(feedback.plan)
        self._tracing.show(feedback.progress, _describe(feedback))

    def end(self, is_traced: bool) -> None:
        """Leave what is shown, the bar filled if the figure was traced."""
        if not self._is_planned:
            self._end_planning()
            return
        if is_traced:
            self._tracing.show(1.0)
        self._tracing.end()

    def _show_planning(self, part: float) -> None:
        if self._clock() - self._begun_s > _SOON_S:
            self._is_planning_shown = True
            self._planning.show(part)

    def _end_planning(self) -> None:
        if self._is_planning_shown:
            self._planning.end()


def _describe(feedback: Any) -> str:
    if feedback.progress <= 0.0:
        # Not on its path yet.
        return ""
    error = feedback.position_error
    off = "tip on its path" if error < FINEST else f"tip off its path by {1e6 * error:.3g} um"
    if feedback.speed_scaling >= 1.0:
        return off
    if feedback.speed_scaling <= 0.0:
        return f"{off}, paused"
    return f"{off}, at {100.0 * feedback.speed_scaling:.0f} % of its speed"
