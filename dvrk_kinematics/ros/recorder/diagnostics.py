"""A recorder's reports on its bag: each second on /diagnostics, and in a sentence at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from dvrk_kinematics.ros.recorder.loss_counter import LossCounter

__all__ = ["describe", "sum_up"]


def describe(
    node: str, folder: Path, messages: Mapping[str, int], losses: Mapping[str, LossCounter]
) -> DiagnosticArray:
    """Describe the state of a recording, without a stamp.

    Args:
        node: Full name of the recorder's node.
        folder: The bag's folder.
        messages: Number of messages written for each topic.
        losses: Number of messages missing for each topic.
    """
    missing = sum(counter.lost or 0 for counter in losses.values())
    rows = [("folder", str(folder)), ("messages", sum(messages.values())), ("lost", missing)]
    # A plain topic name is the key for the number of messages written.
    lost = [
        (f"lost {name}", counter.not_counted or counter.lost) for name, counter in losses.items()
    ]
    told = (*rows, *messages.items(), *lost)
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if missing else DiagnosticStatus.OK,
        name=f"{node.removeprefix('/')}: bag",
        message=f"messages are missing: {missing}" if missing else "recording",
        hardware_id="recorder",
        values=[KeyValue(key=key, value=str(value)) for key, value in told],
    )
    return DiagnosticArray(status=[status])


def sum_up(folder: Path, messages: Mapping[str, int], losses: Mapping[str, LossCounter]) -> str:
    """Summarise in a sentence what was recorded and what is missing."""
    missing = [f"{counter.lost} of {name}" for name, counter in losses.items() if counter.lost]
    parts = [
        f"wrote {sum(messages.values())} messages of {len(messages)} topics to {folder}",
        f"lost: {', '.join(missing) or 'none'}",
    ]
    for reason in sorted({counter.not_counted for counter in losses.values()} - {""}):
        names = [name for name, counter in losses.items() if counter.not_counted == reason]
        parts.append(f"{reason} on {', '.join(names)}")
    return "; ".join(parts)
