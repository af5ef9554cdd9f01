"""How far planning has come, and whether it should go on.

A planner calls ``progress.step(done, of)`` between short pieces of work. This reports the progress
to the caller, who can end planning there: with a reason, or with a time limit.

    watch = PlanningWatch(find_end=lambda: "cancelled" if is_cancelled else "", allowed_s=10.0)
    plan_motion(arm, moves, q_start, limits, progress=watch.progress)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import inf

from dvrk_kinematics.errors import PlanningCancelled, PlanningTimeout
from dvrk_kinematics.kinematics.interruptible import interruptible

__all__ = ["UNWATCHED", "PlanningProgress", "PlanningWatch"]

_LOOK_S = 0.01
"""How often a watch checks whether planning should end: asking costs more than a small step."""
_TELL_S = 0.2
"""How often it reports the progress of planning."""


class PlanningWatch:
    """Follows the progress of planning, and ends it.

    Args:
        find_end: Asked repeatedly why planning should end early; empty if it should not.
        allowed_s: How long planning may take (s), from now on.
        tell: Called about five times a second with the fraction done, from 0 to 1; it never falls.
        clock: Returns the time (s).

    Attributes:
        fraction: The fraction that is done, from 0 to 1.
    """

    def __init__(
        self,
        find_end: Callable[[], str] = lambda: "",
        allowed_s: float = inf,
        tell: Callable[[float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find_end = find_end
        self._allowed_s = allowed_s
        self._tell = tell
        self._clock = clock
        self.fraction = 0.0
        self._begun_s = self._looked_s = self._told_s = clock()

    @property
    def progress(self) -> PlanningProgress:
        """What to pass to the planner."""
        return PlanningProgress(self)

    def look(self, fraction: float) -> None:
        """Record the fraction done, and check whether planning should go on.

        Raises:
            PlanningCancelled: It should not.
            PlanningTimeout: Its time is over.
        """
        # Where something must be planned again, the fraction waits rather than going back.
        self.fraction = max(self.fraction, min(float(fraction), 1.0))
        now = self._clock()
        if now - self._looked_s < _LOOK_S:
            return
        self._looked_s = now
        why = self._find_end()
        if why:
            raise PlanningCancelled(why, self.fraction)
        if now - self._begun_s > self._allowed_s:
            raise PlanningTimeout(self._allowed_s, self.fraction)
        if self._tell is not None and now - self._told_s >= _TELL_S:
            self._told_s = now
            self._tell(self.fraction)


@dataclass(frozen=True, slots=True)
class PlanningProgress:
    """A part of some planning, reported to a watch; without one, nothing is reported or ended.

    Attributes:
        watch: What receives the reports.
        begin: Where this part begins in the whole, from 0 to 1.
        share: Its share of the whole.
    """

    watch: PlanningWatch | None = None
    begin: float = 0.0
    share: float = 1.0

    def step(self, done: float, of: float) -> None:
        """Report that ``done`` of ``of`` is done; there is little work between any two steps.

        Raises:
            PlanningCancelled: Planning should end.
            PlanningTimeout: Its time is over.
        """
        if self.watch is not None:
            part = min(done / of, 1.0) if of > 0.0 else 1.0
            self.watch.look(self.begin + self.share * part)

    def check(self) -> None:
        """Check whether to go on where nothing new is done; raises as :meth:`step` does."""
        if self.watch is not None:
            self.watch.look(self.begin)

    def in_force(self) -> AbstractContextManager[None]:
        """Allow a with-block to end from within its searches too."""
        return nullcontext() if self.watch is None else interruptible(self.check)

    def part(self, begin: float, end: float) -> PlanningProgress:
        """A part of this part, from one fraction of it to another."""
        if self.watch is None:
            return self
        return PlanningProgress(
            self.watch, self.begin + self.share * begin, self.share * (end - begin)
        )

    def attempt(self, number: int, likely: float) -> PlanningProgress:
        """The part for one attempt at something that needs an unknown number of attempts.

        Args:
            number: Which attempt, from 0.
            likely: The share of what is left that each attempt gets, in (0, 1).
        """
        left = (1.0 - likely) ** number
        return self.part(1.0 - left, 1.0 - left * (1.0 - likely))


UNWATCHED = PlanningProgress()
"""Planning without a watcher."""
