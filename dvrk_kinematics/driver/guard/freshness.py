"""Whether an arm's messages are new.

Age is measured from arrival, on our monotonic clock. Stamps are on the clock of another machine,
which may be off or jump: we compare them with each other and with 0, never with our clock.

A dVRK may publish the same datum several times. Each time it recomputes the stamp from two
readings of its clock, so these stamps differ by microseconds, in either direction.
"""

from __future__ import annotations

from dvrk_kinematics.driver.port import ArmState
from dvrk_kinematics.driver.reasons import Finding, Reason

__all__ = ["SAME_DATUM_NS", "Freshness", "StreamWatch"]

SAME_DATUM_NS = 1_000_000
"""Stamps that differ by no more than this (ns) may belong to the same datum."""


class StreamWatch:
    """Watches arrivals and stamps of one topic.

    Args:
        name: Name of the topic, for findings.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.news_arrival_ns: int | None = None
        """When new data last arrived (monotonic); None if none has."""
        self._arrival_ns: int | None = None
        self._news_stamp_ns: int | None = None
        self._fault: Finding | None = None

    def observe(self, arrival_ns: int | None, stamp_ns: int) -> Finding | None:
        """Take the newest message into account.

        Args:
            arrival_ns: When it arrived (monotonic), None if none has.
            stamp_ns: Its stamp (the arm's clock).

        Returns:
            Why the topic cannot be trusted, None if it can; this does not check its age.
        """
        if arrival_ns is None or arrival_ns == self._arrival_ns:
            return self._fault
        self._arrival_ns = arrival_ns
        self._fault = None
        if stamp_ns == 0:
            self._fault = Finding(Reason.STAMP_ZERO, self.name)
            return self._fault
        newest = self._news_stamp_ns
        if newest is not None and abs(stamp_ns - newest) <= SAME_DATUM_NS:
            return None
        if newest is not None and stamp_ns < newest:
            self._fault = Finding(
                Reason.STAMP_WENT_BACK,
                f"{self.name} (s)",
                value=(newest - stamp_ns) * 1e-9,
                limit=SAME_DATUM_NS * 1e-9,
            )
        self._news_stamp_ns, self.news_arrival_ns = stamp_ns, arrival_ns
        return self._fault


class Freshness:
    """Watches measured_js and setpoint_js.

    Args:
        max_age_ns: Largest allowed age of the data of either (ns).
    """

    def __init__(self, max_age_ns: int) -> None:
        self._max_age_ns = max_age_ns
        self._measured = StreamWatch("measured_js")
        self._setpoint = StreamWatch("setpoint_js")

    def observe(self, state: ArmState) -> Finding | None:
        """Take a state into account; call once a tick.

        Returns:
            Why its stamps cannot be trusted, None if they can.
        """
        # Always update both, so that neither misses a message.
        measured = self._measured.observe(state.measured_arrival_ns, state.measured_stamp_ns)
        setpoint = self._setpoint.observe(state.setpoint_arrival_ns, state.setpoint_stamp_ns)
        return measured or setpoint

    @property
    def setpoint_news_ns(self) -> int | None:
        """When new setpoint_js data last arrived (monotonic); None if none has."""
        return self._setpoint.news_arrival_ns

    def age_s(self, now_ns: int) -> float:
        """Age of the older of the two topics' newest data (s); infinite before both arrive."""
        return self._find_oldest(now_ns)[0] * 1e-9

    def find_stale(self, now_ns: int) -> Finding | None:
        """Find the topic that has had no new data for too long."""
        age_ns, stream = self._find_oldest(now_ns)
        if age_ns <= self._max_age_ns:
            return None
        if stream.news_arrival_ns is None:
            return Finding(Reason.STALE_STATE, f"no {stream.name} has arrived")
        detail = f"seconds since the last news of {stream.name}"
        limit = self._max_age_ns * 1e-9
        return Finding(Reason.STALE_STATE, detail, value=age_ns * 1e-9, limit=limit)

    def _find_oldest(self, now_ns: int) -> tuple[float, StreamWatch]:
        ages = [
            (float("inf") if s.news_arrival_ns is None else float(now_ns - s.news_arrival_ns), s)
            for s in (self._measured, self._setpoint)
        ]
        return max(ages, key=lambda entry: entry[0])
