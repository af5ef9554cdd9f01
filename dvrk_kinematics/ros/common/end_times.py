"""How long a process with a node may take to end after a stop request."""

from __future__ import annotations

from typing import Final

__all__ = ["END_S", "STOP_S", "TEARDOWN_S"]

STOP_S: Final = 20.0
"""How long a node may take to finish its work after a stop request (s); its longest wait, for
arms to come to rest, takes 10 s."""

TEARDOWN_S: Final = 2.0
"""How long the middleware may take to shut down once all important work is done (s)."""

END_S: Final = STOP_S + TEARDOWN_S + 1.0
"""A process that still runs after this time has no working watchdog and may be killed (s)."""
