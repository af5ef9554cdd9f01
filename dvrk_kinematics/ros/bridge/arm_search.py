"""Whether a bridge has found its arm, and what is still missing for that.

Processes that start together find each other within milliseconds on an idle machine and within
many seconds on a busy one. What arrives meanwhile waits for the arm.
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
"""How long a request waits for an arm that is still being found."""

_TELL_S = 3.0
"""After how long it is said what is waited for."""


class ArmSearch:
    """Looks for one arm; used by the control loop.

    Args:
        logger: Where to say what is waited for.
        arm: Name of the arm.
        identity: Who publishes its state.
        port: What was heard of it.
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
        """What is still waited for; None once the arm has been found, and may be commanded or not.

        An arm that fell silent is not searched for, unless it has left the graph.
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
        """The same for what moves the arm: it waits for no arm that was found and went away.

        Whoever took that arm away must not find that it moves when it comes back.
        """
        missing = self.find_missing()
        return missing if self._identity.is_asking or not self._was_found else None

    def tell(self, waiting: Iterable[str], now_ns: int) -> None:
        """Say once what is waited for, if that takes long.

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
