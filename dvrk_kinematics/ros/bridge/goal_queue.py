"""Goals between their arrival and their begin: in order, and waiting for an arm if they must."""

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

    A goal passes other threads before the loop sees it, and whoever asks for a hold in between
    means that goal, too.
    """

    def __init__(self) -> None:
        self._holds = 0
        self._holds_at_arrival = 0

    def note(self) -> None:
        """A goal has arrived, and its client does not know that yet; in the executor's thread."""
        self._holds_at_arrival = self._holds

    @property
    def number(self) -> int:
        """The number of the goal that was noted last; in the executor's thread."""
        return self._holds_at_arrival

    def drop(self) -> None:
        """Let no goal begin that has arrived until now; in the loop's thread."""
        self._holds += 1

    def is_dropped(self, number: int) -> bool:
        """Whether a hold was asked for after a goal of this number; in the loop's thread."""
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
        arrivals: Tells which of them a hold has overtaken.
    """

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._entries: deque[_Entry[T]] = deque()

    @property
    def has_waiting(self) -> bool:
        """Whether a goal waits for its arm; in the loop's thread."""
        return any(entry.has_waited for entry in list(self._entries))

    def put(self, goal_id: bytes, goal: T | Finding, number: int) -> None:
        """Add a goal, or why it cannot be one; from any thread.

        Args:
            goal_id: Its id.
            goal: What it asks for.
            number: Its number of :class:`Arrivals`.
        """
        self._entries.append(_Entry(goal_id, goal, number, time.monotonic_ns()))

    def take(
        self, is_waiting: bool, cancelled: Collection[bytes], now_ns: int
    ) -> list[tuple[bytes, T | Finding]]:
        """Goals to begin or to refuse now, in the order in which they came; in the loop's thread.

        Args:
            is_waiting: Whether the arm is still being found. Goals then stay here, as long as one
                may take to find; those that were cancelled or held do not.
            cancelled: Ids of the goals whose end was asked for.
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
