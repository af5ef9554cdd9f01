"""A DDS domain for one run, so that benchmarks and other programs do not hear each other."""

from __future__ import annotations

import os

__all__ = ["use_own_domain"]

_DOMAINS = 99
"""Above 101, the ports of a domain are among those that Linux gives to any program."""


def use_own_domain() -> None:
    """Choose a domain by process id, on this machine only, unless the user has chosen."""
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % _DOMAINS))
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
