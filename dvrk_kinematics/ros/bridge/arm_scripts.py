"""Scripts that change the state of an arm step by step, advanced by the control loop.

A script sends a command word, waits for the arm's report, and ends with an answer. Every wait has
a timeout: an arm's is_busy can get stuck, and an arm's last report remains after it died.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from dvrk_kinematics.driver.port import ArmState, OperatingState
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.ros.bridge.arm_search import FIND_S
from dvrk_kinematics.ros.bridge.settings import SIMULATED, BridgeSettings

__all__ = ["SILENT_S", "Answer", "ArmScripts", "Commanded", "Script", "ScriptFailed"]

_RETURN_S = 5.0
"""How long an arm that was found may be in doubt, or silent, before we report it (s)."""

_PATIENCE_S = 0.5
"""How long a ready arm may have another obstacle to motion before we report it (s)."""

SILENT_S = 1.0
"""An arm that is silent for this long (s) counts as gone; its earlier reports are void."""

Answer = tuple[bool, str]
"""Whether it succeeded, and a text for the user."""

Script = Generator[None, None, Answer]


class Commanded(Protocol):
    """The target of the scripts."""

    def state_command(self, word: str) -> None:
        """Send a word to the arm."""

    def stop_motion(self) -> None:
        """Stop any motion along its path."""

    def hold(self) -> None:
        """Tell the arm to stay at its setpoint."""

    def drop_waiting(self) -> bool:
        """Drop all goals that have not begun; return whether one waited for the arm."""

    @property
    def is_idle(self) -> bool:
        """Whether none of our motions is active."""

    @property
    def is_heard(self) -> bool:
        """Whether the arm receives commands."""

    @property
    def is_stranger(self) -> bool:
        """Whether we know that this bridge must never command the arm."""

    def find_rivals(self) -> list[str]:
        """Names of all bridges of the arm, if there are any on other machines."""

    def find_missing(self) -> Finding | None:
        """What is missing from an arm that is still being found; None once it was found."""

    def find_refusal(self) -> Finding | None:
        """Why the arm must not be commanded at all."""

    def find_obstacle(self) -> Finding | None:
        """Why no motion may start now."""


class ScriptFailed(Exception):
    """A script cannot continue; the text is its answer."""


class ArmScripts:
    """The scripts of one arm.

    Args:
        settings: How long to wait.
        target: The arm to command.
    """

    def __init__(self, settings: BridgeSettings, target: Commanded) -> None:
        self._settings = settings
        self._target = target
        self._now_ns = 0
        self._state: ArmState | None = None
        self.is_released = False
        """Whether a user has enabled the arm through this bridge since it was last disabled."""

    def adopt(self, settings: BridgeSettings) -> None:
        """Take parameters that changed at rest."""
        self._settings = settings

    def observe(self, state: ArmState, now_ns: int) -> None:
        """Take in the arm's state, before every step of a script.

        Args:
            state: The last state of the arm.
            now_ns: Time now (monotonic).
        """
        self._state, self._now_ns = state, now_ns
        if state.operating_state is not OperatingState.ENABLED:
            # The user who took the arm away must not see it move when it comes back.
            self.is_released = False

    @property
    def _now(self) -> ArmState:
        assert self._state is not None
        return self._state

    def enable(self) -> Script:
        """Power the arm, also from FAULT, and allow motion."""
        yield from self._meet()
        self._check_rivals()
        state = self._now.operating_state
        if state is OperatingState.PAUSED:
            return False, "the arm is PAUSED; resume it, or disable it first"
        if state is OperatingState.FAULT:
            # The dVRK accepts enable in FAULT without effect; disable is the way out.
            yield from self._send("disable", OperatingState.DISABLED)
        if self._now.operating_state is not OperatingState.ENABLED or self._now.is_busy:
            yield from self._send("enable", OperatingState.ENABLED)
        self.is_released = True
        if not self._now.is_homed:
            return True, "ENABLED, not homed: call home next"
        return (yield from self._settle("ENABLED", self._settings.state_timeout))

    def home(self) -> Script:
        """Home an enabled arm."""
        if self._target.find_missing() is not None:
            yield from self._meet()
        self._check_arm()
        if not self.is_released:
            return False, "the arm was not enabled through this bridge; call enable first"
        if not self._now.is_homed:
            yield from self._wait_heard()
            self._target.state_command("home")
        return (yield from self._settle("homed", self._settings.home_timeout))

    def hold(self) -> Script:
        """Stop a motion along its path, or command an arm at rest to stay."""
        is_dropped = self._target.drop_waiting()
        if self._target.is_idle:
            if self._now.operating_state is not OperatingState.ENABLED:
                if is_dropped:
                    return True, "the goals that waited for the arm have ended"
                return False, f"the arm is {self._now.operating_state.value}: nothing to hold"
            self._check_arm()
            self._target.hold()
            return True, "nothing of ours moved; told the arm to hold"
        self._target.stop_motion()
        deadline_ns = self._deadline(self._settings.state_timeout)
        while not self._target.is_idle:
            if self._now_ns > deadline_ns:
                raise ScriptFailed(f"still moving after {self._settings.state_timeout:g} s")
            yield
        return True, "stopped"

    def pause(self) -> Script:
        """Stop the arm immediately, and keep it powered."""
        self._target.drop_waiting()
        self._check_arm()
        if self._now.operating_state is OperatingState.PAUSED:
            # A second pause would overwrite the state to which resume returns.
            return True, "the arm is PAUSED already"
        self._fail_if_not(OperatingState.ENABLED)
        yield from self._send("pause", OperatingState.PAUSED)
        return True, "PAUSED"

    def resume(self) -> Script:
        """End a pause, and allow motion again."""
        self._check_arm()
        self._check_rivals()
        self._fail_if_not(OperatingState.PAUSED)
        yield from self._send("resume", OperatingState.ENABLED)
        self.is_released = True
        if not self._now.is_homed:
            return True, "ENABLED, not homed: call home next"
        return (yield from self._settle("ENABLED", self._settings.state_timeout))

    def disable(self) -> Script:
        """Power off the arm."""
        self._target.drop_waiting()
        refusal = self._target.find_refusal()
        if self._settings.hardware == SIMULATED:
            _refuse(refusal)
        self.is_released = False
        doubt = refusal or self._find_silence()
        if doubt is not None or not self._target.is_heard:
            # It may still receive commands, so send this now; the effect may show later, or never.
            self._target.state_command("disable")
        if doubt is not None:
            return False, f"told the arm to disable, but {doubt}"
        yield from self._send("disable", OperatingState.DISABLED)
        return True, "DISABLED"

    def _settle(self, word: str, timeout_s: float) -> Generator[None, None, Answer]:
        """Wait until the arm is homed and continuously ready, so that a goal can follow.

        The arm briefly reports that it is homed before its homing motion begins.
        """
        since_ns = None
        deadline_ns = self._deadline(timeout_s)
        while True:
            if self._find_doubt() is not None:
                # We send nothing here, so there is time to identify an arm that was briefly late.
                since_ns = None
                yield from self._meet()
            state = self._now
            self._fail_if_not(OperatingState.ENABLED)
            if not state.is_homed or state.is_busy:
                since_ns = None
            elif since_ns is None:
                since_ns = self._now_ns
            obstacle = self._target.find_obstacle()
            ready_s = 0.0 if since_ns is None else (self._now_ns - since_ns) * 1e-9
            if obstacle is None and ready_s > 0.0:
                return True, word
            if obstacle is not None and ready_s > self._settings.ready_time + _PATIENCE_S:
                return True, f"{word}, but cannot move: {obstacle}"
            if self._now_ns > deadline_ns:
                told = f"is_homed {state.is_homed}, is_busy {state.is_busy}"
                raise ScriptFailed(
                    f"not {word} after {timeout_s:g} s ({told}); disable, enable and home again"
                )
            yield

    def _meet(self) -> Generator[None, None, None]:
        """Wait until the arm is found, unless it is there and must not be commanded."""
        find_ns = self._deadline(FIND_S)
        return_ns = self._deadline(min(self._settings.state_timeout, _RETURN_S))
        while not self._target.is_stranger:
            deadline_ns = return_ns
            if self._target.find_missing() is not None:
                # Once found, it may still need a moment before its messages arrive.
                return_ns = self._deadline(min(self._settings.state_timeout, _RETURN_S))
                deadline_ns = find_ns
            elif self._find_doubt() is None:
                break
            if self._now_ns >= deadline_ns:
                break
            yield
        self._check_arm()

    def _check_rivals(self) -> None:
        """Fail if a bridge of the arm runs on another machine: one of them must end."""
        rivals = self._target.find_rivals()
        if rivals:
            names = f"{len(rivals)} bridges of {self._settings.arm} run: {', '.join(rivals)}"
            raise ScriptFailed(f"{names}, on different machines; end all but one of them")

    def _check_arm(self) -> None:
        """Fail if the arm must not be commanded, or is no longer there."""
        _refuse(self._find_doubt())

    def _find_doubt(self) -> Finding | None:
        """Why the arm must not be commanded, or that it is no longer there."""
        refusal = self._target.find_refusal() or self._target.find_missing()
        return refusal or self._find_silence()

    def _find_silence(self) -> Finding | None:
        arrival_ns = self._now.measured_arrival_ns
        if arrival_ns is None:
            return Finding(Reason.STALE_STATE, "no measured_js has arrived")
        age_s = (self._now_ns - arrival_ns) * 1e-9
        if age_s <= SILENT_S:
            return None
        what = "seconds since the last measured_js"
        return Finding(Reason.STALE_STATE, what, value=age_s, limit=SILENT_S)

    def _fail_if_not(self, wanted: OperatingState) -> None:
        state = self._now
        if state.operating_state is not wanted:
            error = f" ({state.last_error})" if state.last_error else ""
            raise ScriptFailed(
                f"the arm is {state.operating_state.value}, not {wanted.value}{error}"
            )

    def _send(self, word: str, wanted: OperatingState) -> Generator[None, None, None]:
        """Send a command word and wait for the wanted state, not busy."""
        yield from self._wait_heard()
        timeout_s = self._settings.state_timeout
        deadline_ns = self._deadline(timeout_s)
        self._target.state_command(word)
        # The current state predates the command.
        yield
        while True:
            state = self._now
            if state.operating_state is wanted and not state.is_busy:
                return
            if state.operating_state is OperatingState.FAULT and word != "disable":
                raise ScriptFailed(f"the arm went to FAULT: {state.last_error}")
            if self._now_ns > deadline_ns:
                raise ScriptFailed(
                    f"sent {word!r}, but after {timeout_s:g} s the arm is "
                    f"{state.operating_state.value}, is_busy {state.is_busy}"
                )
            yield

    def _wait_heard(self) -> Generator[None, None, None]:
        """Wait until the arm receives commands: earlier ones are lost."""
        deadline_ns = self._deadline(FIND_S)
        while not self._target.is_heard:
            if self._now_ns > deadline_ns:
                raise ScriptFailed(f"nobody hears our commands after {FIND_S:g} s")
            yield

    def _deadline(self, timeout_s: float) -> int:
        return self._now_ns + round(timeout_s * 1e9)


def _refuse(finding: Finding | None) -> None:
    if finding is not None:
        raise ScriptFailed(str(finding))
