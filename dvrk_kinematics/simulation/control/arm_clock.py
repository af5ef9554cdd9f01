"""The time of an arm's control cycles."""

from __future__ import annotations

__all__ = ["ArmClock"]


class ArmClock:
    """A time that is passed in, never read, and never goes back.

    Attributes:
        now_s: The time of the present cycle (s).
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self._is_running = False

    def begin(self, now_ns: int) -> tuple[float, float]:
        """Begins a step.

        Args:
            now_ns: A monotonic time (ns); one that is behind the last counts as the last.

        Returns:
            From when to when the step lasts (s). The first one takes no time.
        """
        now = now_ns * 1e-9
        if not self._is_running:
            self._is_running, self.now_s = True, now
        return self.now_s, max(now, self.now_s)
