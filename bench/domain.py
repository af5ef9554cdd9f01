"""A DDS domain for one run, so that benchmarks, tests and others do not hear each other."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

__all__ = ["claim_domain", "use_own_domain"]

_LAST_DOMAIN = 99
"""Above 101, the ports of a domain are among those that Linux gives to any program."""

_claims: list[int] = []
"""Open locks; the system gives them back when the process ends, however it does."""


def claim_domain() -> int:
    """Find a domain that no other run on this machine has claimed, and keep it until the end."""
    for offset in range(_LAST_DOMAIN):
        # Runs that start together look at different ones first.
        domain = 1 + (os.getpid() + offset) % _LAST_DOMAIN
        path = Path(tempfile.gettempdir(), f"dvrk_domain_{os.getuid()}_{domain}.lock")
        # Not inherited: what a killed run leaves behind would keep its domain.
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        _claims.append(lock)
        return domain
    raise RuntimeError(f"all domains from 1 to {_LAST_DOMAIN} are in use on this machine")


def use_own_domain() -> None:
    """Choose a domain of one's own, on this machine only, unless the user has chosen."""
    if "ROS_DOMAIN_ID" not in os.environ:
        os.environ["ROS_DOMAIN_ID"] = str(claim_domain())
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
