"""Whether an arm's reported setpoint is ours, or another client moves the arm."""

from __future__ import annotations

from collections import deque

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["SetpointWatch"]

_FALL_BACK = 4
"""How many of the last setpoints an arm may fall back to when it is told to hold."""


class SetpointWatch:
    """Compares reported setpoints with those that were sent.

    The arm does not interpolate: it reports exactly one of the setpoints that it received, in
    order and with a delay. At rest it reports the one at which it came to rest. Only a ``hold``
    makes it fall back: to the setpoint of its last cycle, which is one of the last few. An arm
    that was not ours for a while, for example while paused, may have dropped the last ones on
    their way.

    Args:
        names: The joints.
        tolerance: Largest difference (rad, m) between what was sent and what is reported.
        memory_ns: How long an arm that reports may take to report a setpoint (ns).
    """

    def __init__(self, names: tuple[str, ...], tolerance: float, memory_ns: int) -> None:
        self._names = names
        self._tolerance = tolerance
        self._memory_ns = memory_ns
        self._sent: deque[tuple[int, list[float]]] = deque()
        self._latest: deque[list[float]] = deque(maxlen=_FALL_BACK)
        self._held_ns: int | None = None
        self._rest: list[float] | None = None
        self._may_have_dropped = False
        self._reported: list[float] | None = None
        self._arrival_ns: int | None = None

    @property
    def rest(self) -> tuple[float, ...] | None:
        """Where the arm rests (rad, m); None while it moves, or before its first report."""
        return None if self._rest is None else tuple(self._rest)

    def begin(self, setpoint: Array, now_ns: int) -> None:
        """Start a motion of ours from a setpoint (rad, m), shape (n,)."""
        # Keep the previous motion's setpoints: the arm may still report them.
        self._rest = None
        self._may_have_dropped = False
        self.sent(setpoint, now_ns)

    def sent(self, q: Array, now_ns: int) -> None:
        """Remember a setpoint that was sent."""
        self._sent.append((now_ns, q.tolist()))
        self._latest.append(self._sent[-1][1])
        # Keep what a silent arm could not report yet until it reports again.
        heard_ns = now_ns if self._arrival_ns is None else self._arrival_ns
        # The time of a setpoint ends with the next one, however long it was the newest.
        while len(self._sent) > 1 and heard_ns - self._sent[1][0] > self._memory_ns:
            self._sent.popleft()

    def held(self, now_ns: int) -> None:
        """Remember that the arm was told to hold, by us or by another client."""
        self._held_ns = now_ns

    def end(self, may_have_dropped: bool = False) -> None:
        """End a motion of ours: the last setpoint stays.

        Args:
            may_have_dropped: Whether the arm may have dropped the last setpoints. If so, it rests
                at the last one that it reports.
        """
        self._may_have_dropped = may_have_dropped
        if self._sent:
            self._rest = self._sent[-1][1]

    def observe(self, setpoint: Array, arrival_ns: int | None, now_ns: int) -> Finding | None:
        """Compare a reported setpoint; each message once.

        Args:
            setpoint: Reported setpoint (rad, m), shape (n,).
            arrival_ns: When it arrived (monotonic).
            now_ns: Time now (monotonic).
        """
        if arrival_ns is None or arrival_ns == self._arrival_ns:
            return None
        silent_ns = 0 if self._arrival_ns is None else arrival_ns - self._arrival_ns
        self._arrival_ns = arrival_ns
        reported: list[float] = setpoint.tolist()
        before, self._reported = self._reported, reported
        if self._is_echo(reported, now_ns - silent_ns) or self._is_fall_back(reported, now_ns):
            return None
        newest = self._rest or (self._sent[-1][1] if self._sent else None)
        if newest is None:
            self._rest = reported
            return None
        if self._rest is not None:
            if self._is_same(reported, self._rest):
                return None
            # The new place is where the arm rests from now on, if it does. Whatever it reports
            # after this, ours was before.
            self._rest = reported
            self._sent.clear()
        elif before is not None and self._is_same(reported, before):
            # Nobody has moved it, but what was sent since then has not reached it.
            return self._describe(Reason.ARM_BEHIND, reported, newest)
        return self._describe(Reason.FOREIGN_SETPOINT, reported, newest)

    def _describe(self, reason: Reason, reported: list[float], newest: list[float]) -> Finding:
        j = max(range(len(reported)), key=lambda i: abs(reported[i] - newest[i]))
        detail = f"the arm reports {reported[j]:.6g}, sent was {newest[j]:.6g}"
        return Finding(reason, detail, self._names[j])

    def _is_fall_back(self, reported: list[float], now_ns: int) -> bool:
        """Whether the arm has fallen back to one of the last setpoints because it was held."""
        if self._held_ns is None or now_ns - self._held_ns > self._memory_ns:
            return False
        if not any(self._is_same(reported, q) for q in self._latest):
            return False
        if self._rest is not None:
            self._rest = reported
        return True

    def _is_echo(self, reported: list[float], now_ns: int) -> bool:
        """Whether a setpoint was sent, not too long ago and not before what was reported last.

        An arm reports setpoints in the order in which it received them. One that is being homed,
        say, may pass through our earlier setpoints, but in reverse order.

        Args:
            reported: Reported setpoint (rad, m).
            now_ns: Time from which the arm could have reported (monotonic).
        """
        sent = list(self._sent)
        for place, (sent_ns, q) in enumerate(sent):
            is_newest = place == len(sent) - 1
            replaced_ns = sent_ns if is_newest else sent[place + 1][0]
            is_in_force = is_newest and self._rest is None
            if not is_in_force and now_ns - replaced_ns > self._memory_ns:
                continue
            if self._is_same(reported, q):
                for _ in range(place):
                    self._sent.popleft()
                if self._may_have_dropped:
                    self._rest = reported
                return True
        return False

    def _is_same(self, a: list[float], b: list[float]) -> bool:
        return all(abs(x - y) <= self._tolerance for x, y in zip(a, b, strict=True))
