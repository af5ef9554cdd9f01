"""How long a process with a node may take to end, once it was told to."""

from __future__ import annotations

from typing import Final

__all__ = ["END_S", "STOP_S", "TEARDOWN_S"]

STOP_S: Final = 20.0
"""By when a node that was told to stop must have done what it has to do (s); the longest wait of a
node, for arms that come to rest, takes 10 s."""

TEARDOWN_S: Final = 2.0
"""How long the middleware may take to leave once everything that matters is done (s)."""

END_S: Final = STOP_S + TEARDOWN_S + 1.0
"""A process that is still there then has no watchdog that works: it may be killed (s)."""
