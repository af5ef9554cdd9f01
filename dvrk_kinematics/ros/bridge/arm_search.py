"""Whether a bridge has found its arm, and what is still missing.

Processes that start together find each other within milliseconds on an idle machine, but may need
many seconds on a busy one. Requests that arrive meanwhile wait for the arm.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.ros.bridge.arm_identity import ArmIdentity
from dvrk_kinematics.ros.bridge.crtk_port import CrtkPort
from dvrk_kinematics.ros.common.patience import BOUND_S

__all__ = ["FIND_S", "ArmSearch"]

FIND_S = BOUND_S
"""How long a request waits for an arm that is still being found (s)."""

_TELL_S = 3.0
"""We log a wait that takes longer than this (s)."""


class ArmSearch:
    """Looks for one arm; used by the control loop.

    Args:
        logger: Logs long waits.
        arm: Name of the arm.
        identity: Who publishes its state.
        port: The connection to the arm.
    """

    def __init__(self, logger: Any, arm: str, identity: ArmIdentity, port: CrtkPort) -> None:
        self._logger = logger
        self._arm = arm
        self._identity = identity
        self._port = port
        self._was_found = False
        self._since_ns: dict[str, int] = {}
        self._told: set[str] = set()

    def find_missing(self) -> Finding | None:
        """What is still missing; None once the arm is found, whether or not it may be commanded.

        We do not search for a silent arm unless it has left the graph.
        """
        missing = self._identity.find_open_question()
        if missing is None and not self._was_found and self._identity.find_refusal() is None:
            silent = self._port.find_unheard()
            if silent:
                missing = Finding(Reason.STALE_STATE, f"no {silent} has arrived")
            elif not self._port.is_heard:
                missing = Finding(Reason.STALE_STATE, "our commands are not heard")
            else:
                self._was_found = True
        return missing

    def find_missing_for_goals(self) -> Finding | None:
        """The same for goals: they do not wait for an arm that was found and then went away.

        The user who took that arm away must not see it move when it comes back.
        """
        missing = self.find_missing()
        return missing if self._identity.is_asking or not self._was_found else None

    def tell(self, waiting: Iterable[str], now_ns: int) -> None:
        """Log once what is missing if a wait takes long.

        Args:
            waiting: What waits for the arm, besides this bridge itself.
            now_ns: Time now (monotonic).
        """
        missing = self.find_missing()
        names = {"this bridge", *waiting} if missing is not None else set()
        self._since_ns = {name: self._since_ns.get(name, now_ns) for name in names}
        self._told &= names
        for name, since_ns in self._since_ns.items():
            if name not in self._told and (now_ns - since_ns) * 1e-9 > _TELL_S:
                self._told.add(name)
                self._logger.info(f"{name} waits for {self._arm}: {missing}")
