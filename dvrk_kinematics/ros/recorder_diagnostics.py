"""What a recorder tells of its bag: each second on /diagnostics, and in a sentence at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

__all__ = ["describe", "sum_up"]


def describe(
    folder: Path, messages: Mapping[str, int], lost: Mapping[str, int | None]
) -> DiagnosticArray:
    """The state of a recording, without a stamp.

    Args:
        folder: Where the bag is.
        messages: How many messages of each topic were written.
        lost: How many are missing, None where nobody knows.
    """
    missing = sum(number or 0 for number in lost.values())
    rows = [("folder", str(folder)), ("messages", sum(messages.values())), ("lost", missing)]
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if missing else DiagnosticStatus.OK,
        name="recorder: bag",
        message=f"messages are missing: {missing}" if missing else "recording",
        hardware_id="recorder",
        values=[KeyValue(key=key, value=str(value)) for key, value in (*rows, *messages.items())],
    )
    return DiagnosticArray(status=[status])


def sum_up(folder: Path, messages: Mapping[str, int], lost: Mapping[str, int | None]) -> str:
    """What was recorded and what is missing, as a sentence."""
    missing = [f"{number} of {name}" for name, number in lost.items() if number]
    unknown = [name for name, number in lost.items() if number is None]
    parts = [
        f"wrote {sum(messages.values())} messages of {len(messages)} topics to {folder}",
        f"lost: {', '.join(missing) or 'none'}",
    ]
    if unknown:
        parts.append(f"losses not known, messages have no numbers: {', '.join(unknown)}")
    return "; ".join(parts)
