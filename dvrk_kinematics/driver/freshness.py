"""Whether what an arm says is new.

Age is measured from arrival, on our monotonic clock. Stamps are on the clock of another machine,
which may be off or jump: they are compared with each other and with 0, never with our clock.
"""

from __future__ import annotations

from dvrk_kinematics.driver.port import ArmState
from dvrk_kinematics.driver.reasons import Finding, Reason

__all__ = ["Freshness", "StreamWatch"]


class StreamWatch:
    """Watches arrivals and stamps of one topic.

    Args:
        name: Name of the topic, for findings.
        max_age_ns: Oldest that its newest message may be (ns).
    """

    def __init__(self, name: str, max_age_ns: int) -> None:
        self._name = name
        self._max_age_ns = max_age_ns
        self._arrival_ns: int | None = None
        self._stamp_ns: int | None = None
        self._increases = True

    def observe(self, arrival_ns: int | None, stamp_ns: int, now_ns: int) -> Finding | None:
        """Take the newest message into account.

        Args:
            arrival_ns: When it arrived (monotonic), None if none did.
            stamp_ns: Its stamp (the arm's clock).
            now_ns: Time now (monotonic).

        Returns:
            Why the topic cannot be trusted now, None if it can.
        """
        if arrival_ns is None:
            return Finding(Reason.STALE_STATE, f"no {self._name} has arrived")
        if arrival_ns != self._arrival_ns:
            self._increases = self._stamp_ns is None or stamp_ns > self._stamp_ns
            self._arrival_ns, self._stamp_ns = arrival_ns, stamp_ns
        age_ns = now_ns - arrival_ns
        if age_ns > self._max_age_ns:
            return Finding(
                Reason.STALE_STATE,
                f"seconds since the last {self._name}",
                value=age_ns * 1e-9,
                limit=self._max_age_ns * 1e-9,
            )
        if stamp_ns == 0:
            return Finding(Reason.STAMP_ZERO, self._name)
        if not self._increases:
            return Finding(Reason.STAMP_NOT_INCREASING, self._name)
        return None


class Freshness:
    """Watches measured_js and setpoint_js.

    Args:
        max_age_ns: Oldest that either may be (ns).
    """

    def __init__(self, max_age_ns: int) -> None:
        self._measured = StreamWatch("measured_js", max_age_ns)
        self._setpoint = StreamWatch("setpoint_js", max_age_ns)

    def observe(self, state: ArmState, now_ns: int) -> Finding | None:
        """Take a state into account; to be called once a tick.

        Returns:
            Why the state cannot be trusted now, None if it can.
        """
        # Both are always told, so that neither misses a message.
        measured = self._measured.observe(
            state.measured_arrival_ns, state.measured_stamp_ns, now_ns
        )
        setpoint = self._setpoint.observe(
            state.setpoint_arrival_ns, state.setpoint_stamp_ns, now_ns
        )
        return measured or setpoint
