"""Services that change the state of an arm: enable, home, hold, pause, resume, disable.

Each request runs as a script that the control loop advances once per tick, so it blocks nothing
else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.driver.port import ArmState
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.ros.bridge.arm_scripts import ArmScripts, Commanded, Script, ScriptFailed
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.rclpy_ext.polled_service import PolledService

__all__ = ["COMMANDS", "StateCommands"]

COMMANDS = {
    "enable": "powers the arm, from FAULT too; nothing is sent to an arm before this is called",
    "home": "homes an arm that is enabled; it may move",
    "hold": "stops what moves, along its path, and stays there",
    "pause": "the arm stops at once and ignores commands until resumed",
    "resume": "ends a pause",
    "disable": "takes the power off at once",
}
"""Every service and its effect."""

_STOPPING = ("hold", "pause", "disable")
"""Requests that end a motion; checked in every tick."""

_LOOK_EVERY = 4
"""All other requests are checked once in this many ticks."""

_MOST_AT_ONCE = 8
"""How many requests of one service we take per tick; the rest wait."""


_BRINGING_UP = ("enable", "home")
"""Requests that bring the arm up; waiting goals yield to them."""


@dataclass(slots=True, eq=False)
class _Running:
    """A running script, its requests, and the script that follows its success."""

    name: str
    headers: list[Any]
    script: Script
    then: str = ""
    is_own: bool = False
    """Whether only the bridge's own parameter requested it."""
    after: _Running | None = None
    """The request that must end first."""


class StateCommands:
    """The services of one arm.

    Args:
        node: The node.
        settings: Name of the arm, and how long to wait.
        target: The arm to command.
    """

    def __init__(self, node: Node, settings: BridgeSettings, target: Commanded) -> None:
        self._settings = settings
        self._target = target
        self._logger = node.get_logger()
        self._services = {
            name: PolledService(node, Trigger, f"bridge/{settings.arm}/{name}")
            for name in COMMANDS
        }
        self._scripts = ArmScripts(settings, target)
        self._running: list[_Running] = []
        # We send one answer per service and tick. If all came at once, a client would keep the
        # usual ten and lose the others.
        self._answers: dict[str, deque[tuple[Any, bool, str]]] = {
            name: deque() for name in COMMANDS
        }
        self._turn = 0
        self._must_bring_up = settings.bring_up

    def adopt(self, settings: BridgeSettings) -> None:
        """Take parameters that changed at rest."""
        self._settings = settings
        self._scripts.adopt(settings)

    @property
    def is_released(self) -> bool:
        """Whether a user has enabled the arm through this bridge since it was last disabled."""
        return self._scripts.is_released

    @property
    def bringing_up(self) -> list[str]:
        """Running requests that bring the arm up."""
        return [running.name for running in self._running if running.name in _BRINGING_UP]

    @property
    def is_coming_up(self) -> bool:
        """Whether the bridge is bringing the arm up because of its own parameter."""
        return self._must_bring_up or any(running.is_own for running in self._running)

    def find_refusal(self) -> Finding | None:
        """Why nothing may move; None if it may."""
        refused = self._target.find_refusal()
        if refused is None and not self.is_released:
            name = f"bridge/{self._settings.arm}/enable"
            refused = Finding(Reason.NOT_ENABLED_HERE, f"call {name} first")
        return refused

    def tick(self, state: ArmState, now_ns: int) -> None:
        """Take new requests, and advance the running ones.

        Args:
            state: The last state of the arm.
            now_ns: Time now (monotonic).
        """
        self._scripts.observe(state, now_ns)
        if self._must_bring_up and state.measured_arrival_ns is not None:
            # Once, on the first state of the arm: a later disable is intentional.
            self._must_bring_up = False
            self._begin("enable", then="home")
        self._turn = (self._turn + 1) % _LOOK_EVERY
        for name, service in self._services.items():
            if name in _STOPPING or self._turn == 0:
                for _ in range(_MOST_AT_ONCE):
                    taken = service.take()
                    if taken is None:
                        break
                    self._begin(name, [taken[1]])
        for running in tuple(self._running):
            if not self._goes_on(running):
                self._running.remove(running)
        for name, answers in self._answers.items():
            if answers:
                header, success, message = answers.popleft()
                self._services[name].answer(header, success=success, message=message)

    def _begin(self, name: str, headers: Sequence[Any] = (), then: str = "") -> None:
        """Begin a script for its requests (none if the bridge itself starts it)."""
        same = [running for running in self._running if running.name == name]
        if same and name != "hold":
            # The running script answers both. A hold applies to everything before it.
            same[0].headers += headers
            return
        if name == "disable":
            # After a power-off, no earlier request may power the arm on again.
            for running in self._running:
                self._answer(running, False, "overtaken by disable")
            self._running.clear()
            self._must_bring_up = False
        scripts: dict[str, Callable[[], Script]] = {
            "enable": self._scripts.enable,
            "home": self._scripts.home,
            "hold": self._scripts.hold,
            "pause": self._scripts.pause,
            "resume": self._scripts.resume,
            "disable": self._scripts.disable,
        }
        # A client that requests both wants one after the other.
        enabling = next((r for r in self._running if r.name == "enable"), None)
        after = enabling if name == "home" else None
        script = scripts[name]()
        self._running.append(_Running(name, [*headers], script, then, not headers, after))

    def _goes_on(self, running: _Running) -> bool:
        if running.after in self._running:
            return True
        try:
            next(running.script)
        except StopIteration as end:
            success, message = end.value
        except ScriptFailed as failure:
            success, message = False, str(failure)
        else:
            return True
        self._answer(running, success, message)
        if success and running.then:
            self._begin(running.then)
        return False

    def _answer(self, running: _Running, success: bool, message: str) -> None:
        text = f"{running.name}: {message}"
        if success:
            self._logger.info(text)
        else:
            self._logger.warning(text)
        self._answers[running.name] += [(header, success, message) for header in running.headers]
