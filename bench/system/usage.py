"""Processor time and memory of processes, as the kernel counts them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

__all__ = ["Usage", "read_usage"]

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") * 1e-6


class Usage(NamedTuple):
    """What a process has used so far.

    Attributes:
        cpu_s: Processor time (s), of all its threads.
        memory_mb: Memory that it holds (MB).
    """

    cpu_s: float
    memory_mb: float


def read_usage(pid: int) -> Usage:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cpu_s = (int(fields[11]) + int(fields[12])) * _TICK_S
    return Usage(cpu_s, int(fields[21]) * _PAGE_MB)
