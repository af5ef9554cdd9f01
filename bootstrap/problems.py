"""The one error of the script: a sentence for the user."""

from __future__ import annotations

from pathlib import Path

__all__ = ["Problem", "explain_log"]


class Problem(Exception):
    """Something that the user has to settle; its text says what is missing and what to do."""


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


def explain_log(title: str, log: Path) -> str:
    """Turn the log of a failed step into one sentence, with the cause where it is a known one.

    Args:
        title: What the step did, such as "install ROS 2".
        log: Its log file.
    """
    text = log.read_text(errors="replace") if log.exists() else ""
    if any(words in text for words in _DISK_FULL):
        return f"cannot {title}: the disk is full; free about 1.5 GB and start again (log: {log})"
    if any(words in text for words in _NO_NETWORK):
        return (
            f"cannot {title}: the package index is out of reach; connect to the network (pip's "
            f"usual settings for mirrors and proxies apply) and start again (log: {log})"
        )
    last = [line for line in text.splitlines() if line.strip()][-12:]
    shown = "".join(f"\n  | {line}" for line in last)
    return f"cannot {title}; the whole log is {log}{shown}"
