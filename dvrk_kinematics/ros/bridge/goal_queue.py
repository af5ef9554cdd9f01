"""Queues goals between arrival and start, in order, and lets them wait for an arm."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, TypeVar

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.ros.bridge.arm_search import FIND_S

__all__ = ["Arrivals", "GoalQueue"]


class Arrivals:
    """Numbers goals by the holds before them.

    A goal passes through other threads before the loop sees it, and a hold in between also applies
    to that goal.
    """

    def __init__(self) -> None:
        self._holds = 0
        self._holds_at_arrival = 0

    def note(self) -> None:
        """Note the arrival of a goal before its client knows of it; in the executor's thread."""
        self._holds_at_arrival = self._holds

    @property
    def number(self) -> int:
        """The number of the last goal noted; in the executor's thread."""
        return self._holds_at_arrival

    def drop(self) -> None:
        """Drop all goals that have arrived but not begun; in the loop's thread."""
        self._holds += 1

    def is_dropped(self, number: int) -> bool:
        """Whether a hold came after a goal of this number; in the loop's thread."""
        return number != self._holds


T = TypeVar("T")


@dataclass(slots=True)
class _Entry(Generic[T]):
    goal_id: bytes
    goal: T | Finding
    number: int
    arrived_ns: int
    has_waited: bool = False


class GoalQueue(Generic[T]):
    """The goals of one action that have not begun yet.

    Args:
        arrivals: Knows which of them a hold has overtaken.
    """

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._entries: deque[_Entry[T]] = deque()

    @property
    def has_waiting(self) -> bool:
        """Whether a goal waits for its arm; in the loop's thread."""
        return any(entry.has_waited for entry in list(self._entries))

    def put(self, goal_id: bytes, goal: T | Finding, number: int) -> None:
        """Add a goal, or the reason for its refusal; from any thread.

        Args:
            goal_id: Its id.
            goal: The goal, or why it is refused.
            number: Its number from :class:`Arrivals`.
        """
        self._entries.append(_Entry(goal_id, goal, number, time.monotonic_ns()))

    def take(
        self, is_waiting: bool, cancelled: Collection[bytes], now_ns: int
    ) -> list[tuple[bytes, T | Finding]]:
        """Goals to begin or to refuse now, in order of arrival; in the loop's thread.

        Args:
            is_waiting: Whether the arm is still being found. Goals then stay here for up to the
                time limit of that search; cancelled or held goals do not.
            cancelled: Ids of the goals with a cancel request.
            now_ns: Time now (monotonic).
        """
        taken: list[tuple[bytes, T | Finding]] = []
        kept: list[_Entry[T]] = []
        while self._entries:
            entry = self._entries.popleft()
            goal = entry.goal
            if not isinstance(goal, Finding):
                if self._arrivals.is_dropped(entry.number):
                    goal = Finding(Reason.HOLD_REQUESTED, "before it began")
                elif entry.goal_id in cancelled:
                    goal = Finding(Reason.CANCELLED, "before it began")
                elif is_waiting and (now_ns - entry.arrived_ns) * 1e-9 < FIND_S:
                    entry.has_waited = True
                    kept.append(entry)
                    continue
            taken.append((entry.goal_id, goal))
        self._entries.extendleft(reversed(kept))
        return taken
