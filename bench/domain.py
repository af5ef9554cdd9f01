"""A DDS domain for one run, so that benchmarks, tests and others do not hear one another."""

from __future__ import annotations

import os
import socket

__all__ = ["claim_domain", "use_own_domain"]

_LAST_DOMAIN = 99
"""Above 101, the ports of a domain are among those that Linux assigns to any program."""

_claims: list[socket.socket] = []
"""Addresses of domains; the system releases them when the process ends, however it ends."""


def claim_domain() -> int:
    """Find a domain that no other run on this machine has claimed, and keep it until the end."""
    for offset in range(_LAST_DOMAIN):
        # Runs that start together try different ones first.
        domain = 1 + (os.getpid() + offset) % _LAST_DOMAIN
        # An abstract one, which all users of a machine share and which leaves no file. Not
        # inherited: the children of a killed run would keep its domain.
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            claim.bind(f"\0dvrk_domain_{domain}")
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return domain
    raise RuntimeError(f"all domains from 1 to {_LAST_DOMAIN} are in use on this machine")


def use_own_domain() -> None:
    """Use our own domain, on this machine only, unless the user has chosen one."""
    if "ROS_DOMAIN_ID" not in os.environ:
        os.environ["ROS_DOMAIN_ID"] = str(claim_domain())
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
