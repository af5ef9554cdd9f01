"""A line about the machine and the time, for every table of figures."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

__all__ = ["describe_machine"]


def describe_machine() -> str:
    """Date, processor, cores, load and Python."""
    info = Path("/proc/cpuinfo")
    models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
    processor = models[0].partition(":")[2].strip() if models else platform.processor()
    today = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    return (
        f"{today}, {processor}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, "
        f"Python {platform.python_version()}"
    )
