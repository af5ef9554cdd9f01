"""Conversion between time stamps of messages and integer nanoseconds."""

from __future__ import annotations

from typing import Any

__all__ = ["NS_PER_S", "ns_to_stamp", "seconds_to_ns", "stamp_to_ns", "write_stamp"]

NS_PER_S = 1_000_000_000


def stamp_to_ns(stamp: Any) -> int:
    """Return the nanoseconds of a builtin_interfaces Time or Duration."""
    return int(stamp.sec) * NS_PER_S + int(stamp.nanosec)


def write_stamp(stamp: Any, ns: int) -> None:
    """Write nanoseconds into a Time or Duration, in place."""
    stamp.sec, stamp.nanosec = divmod(ns, NS_PER_S)


def ns_to_stamp(ns: int, kind: Any) -> Any:
    """Make a Time or Duration.

    Args:
        ns: Nanoseconds; a Duration may be negative.
        kind: The message class, builtin_interfaces.msg.Time or Duration.
    """
    sec, nanosec = divmod(ns, NS_PER_S)
    return kind(sec=sec, nanosec=nanosec)


def seconds_to_ns(seconds: float) -> int:
    """Round to the nearest whole nanosecond."""
    return round(seconds * NS_PER_S)
