"""Waiting for other processes: for an event, with a generous bound, and never without a word.

How long processes take to find each other depends on the machine: 0.2 s where it is idle, 20 s
where it compiles something. So nothing here waits for a fixed time. Whoever waits names an event,
such as a service that appears or a first valid state. After 3 s a line says what is waited for.

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
"""How long another process is waited for where nothing else is asked for (s)."""
INNER_BOUND_S = 30.0
"""The same for a server on behalf of its client, who then hears why instead of giving up (s)."""
ANSWER_S = BOUND_S + INNER_BOUND_S
"""How long the answer of a bridge is waited for, which may look for its arm for BOUND_S first (s):
whoever gives up as early does not hear what was missing."""
_TELL_S = 3.0
"""After how long a line says what is waited for (s)."""
_CHECK_S = 0.1
"""How often a wait checks whether it still makes sense (s)."""
_LOOK_S = 0.01
"""How often to look for what nobody tells of (s)."""

Wait = Callable[[float], bool]
"""Waits up to so many seconds for an event, and tells whether it has come; as Event.wait does."""


def _say_on_terminal(text: str) -> None:
    write_out(sys.stderr, f"{text}\n")


@dataclass(frozen=True, slots=True)
class Patience:
    """How somebody waits.

    Attributes:
        say: Takes the line that says what is waited for; by default it goes to the terminal
            (stderr). A node passes its logger's ``info``.
        check: Called ten times a second during every wait; raises if there is nothing more to
            wait for, such as when a process has died.
    """

    say: Callable[[str], None] = _say_on_terminal
    check: Callable[[], None] = lambda: None

    def wait(self, event: Wait, what: str, timeout_s: float = BOUND_S) -> bool:
        """Wait for an event.

        Args:
            event: Waits for it: ``Event.wait`` of a threading.Event, or ``looking_at`` something.
            what: What is waited for, as in "waiting for the service PSM1/enable".
            timeout_s: Longest time to wait (s).

        Returns:
            Whether it has come.
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
"""Tells the terminal, and waits whatever happens."""


def looking_at(has_come: Callable[[], bool]) -> Wait:
    """Wait for what nobody tells of: look, and look again a little later.

    Args:
        has_come: Whether the event has come, such as ``client.service_is_ready``.
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
