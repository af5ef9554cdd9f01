"""Waiting for other processes: for an event, with a generous bound, and never silently.

How long processes take to find each other depends on the machine: 0.2 s if it is idle, 20 s if it
is compiling something. So nothing here waits for a fixed time. The caller names an event, such as
a service that appears or a first valid state. After 3 s a line names the awaited event.

    patience = Patience()
    if not patience.wait(looking_at(client.service_is_ready), "the service PSM1/enable"):
        raise CallFailed(...)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from dvrk_kinematics.ros.common.terminal import write_out

__all__ = ["ANSWER_S", "BOUND_S", "INNER_BOUND_S", "PATIENT", "Patience", "Wait", "looking_at"]

BOUND_S = 60.0
"""How long to wait for another process by default (s)."""
INNER_BOUND_S = 30.0
"""The same for a server on behalf of its client, which then learns why before it gives up (s)."""
ANSWER_S = BOUND_S + INNER_BOUND_S
"""How long to wait for a bridge's answer (s). The bridge may first search for its arm for BOUND_S,
and a client that gives up as early never learns what was missing."""
_TELL_S = 3.0
"""After how long a line names the awaited event (s)."""
_CHECK_S = 0.1
"""How often a wait checks whether it still makes sense (s)."""
_LOOK_S = 0.01
"""How often to poll for an event without a notification (s)."""

Wait = Callable[[float], bool]
"""Waits up to a number of seconds for an event and returns whether it came, like Event.wait."""


def _say_on_terminal(text: str) -> None:
    write_out(sys.stderr, f"{text}\n")


@dataclass(frozen=True, slots=True)
class Patience:
    """How to wait.

    Attributes:
        say: Takes the line that names the awaited event; by default it goes to the terminal
            (stderr). A node passes its logger's ``info``.
        check: Called ten times a second during every wait; raises if waiting is pointless, such
            as when a process has died.
    """

    say: Callable[[str], None] = _say_on_terminal
    check: Callable[[], None] = lambda: None

    def wait(self, event: Wait, what: str, timeout_s: float = BOUND_S) -> bool:
        """Wait for an event.

        Args:
            event: Waits for it: ``Event.wait`` of a threading.Event, or ``looking_at`` something.
            what: The event, as in "waiting for the service PSM1/enable".
            timeout_s: Longest time to wait (s).

        Returns:
            Whether the event came.
        """
        begin_s = time.monotonic()
        is_told = False
        while True:
            waited_s = time.monotonic() - begin_s
            if event(max(0.0, min(_CHECK_S, timeout_s - waited_s))):
                return True
            self.check()
            waited_s = time.monotonic() - begin_s
            if waited_s >= timeout_s:
                return False
            if waited_s >= _TELL_S and not is_told:
                is_told = True
                self.say(f"waiting for {what} (up to {timeout_s:.0f} s)")


PATIENT = Patience()
"""Reports to the terminal, and waits whatever happens."""


def looking_at(has_come: Callable[[], bool]) -> Wait:
    """Wait for an event without a notification, by polling.

    Args:
        has_come: Returns whether the event has come, such as ``client.service_is_ready``.
    """

    def wait(timeout_s: float) -> bool:
        deadline_s = time.monotonic() + timeout_s
        while not has_come():
            left_s = deadline_s - time.monotonic()
            if left_s <= 0.0:
                return False
            time.sleep(min(_LOOK_S, left_s))
        return True

    return wait
