"""The one error of the script: a sentence for the user."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

__all__ = ["Problem", "explain_full_disk", "explain_log"]


class Problem(Exception):
    """A problem for the user to solve; its text says what is missing and what to do."""


_DISK_FULL = ("No space left on device", "Disk quota exceeded")
_NO_NETWORK = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "Failed to establish a new connection",
    "Network is unreachable",
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
)
_NETWORK_LINES = 30
_FULL_BYTES = 1_000_000


def explain_log(title: str, log: Path) -> str:
    """Turn the log of a failed step into one sentence, with the cause if it is known.

    Args:
        title: What the step did, such as "install ROS 2".
        log: Its log file.
    """
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    if any(words in line for line in lines for words in _DISK_FULL) or _is_full(log.parent):
        return f"cannot {title}: {explain_full_disk(log.parent)} (log: {log})"
    # Only near the end: pip may have reached the index after some attempts and failed later.
    if any(words in line for line in lines[-_NETWORK_LINES:] for words in _NO_NETWORK):
        return (
            f"cannot {title}: the package index is out of reach; connect to the network (pip's "
            f"usual settings for mirrors and proxies apply) and start again (log: {log})"
        )
    last = [line for line in lines if line.strip()][-12:]
    shown = "".join(f"\n  | {line}" for line in last)
    return f"cannot {title}; the whole log is {log}{shown}"


def explain_full_disk(folder: Path) -> str:
    """Say that there is no space, and where one may look: pip also writes to the temporary folder.

    Args:
        folder: A folder of the clone.
    """
    temporary = Path(tempfile.gettempdir())
    return (
        f"the disk is full ({_free_gb(folder):.2f} GB free in the clone, "
        f"{_free_gb(temporary):.2f} GB in {temporary}); free about 1.5 GB and start again"
    )


def _is_full(folder: Path) -> bool:
    """Whether a disk is so full that a log may lack its last lines."""
    return folder.exists() and shutil.disk_usage(folder).free < _FULL_BYTES


def _free_gb(folder: Path) -> float:
    return shutil.disk_usage(folder).free / 1e9
