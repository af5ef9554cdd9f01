"""Who is at the other end: a simulated arm, or a real one that can hurt somebody.

The CRTK topics of an arm_simulator look just like those of a dVRK, and even their nodes have the
same name. We recognise it by parameters that only its node has. A bridge started for simulated
arms commands nothing else, even if a real robot with the same names is on the network.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.ros.bridge.settings import SIMULATED
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = ["ArmIdentity"]

_LOOK_S = 0.05
_LOOK_EVERY = 5
"""Once the publisher is known, we check only every so many timer calls."""

_ASK_AGAIN_S = 1.0
"""We repeat an unanswered question after this (s): it can be lost while two processes are still
discovering each other.
"""

_ANSWER_S = 60.0
"""A node that has not answered by then (s) counts as a real arm until it does answer.

At least as long as a request waits for an arm that is still being discovered.
"""

_MARKS = ("reset_joints_on_enable", "arms")
"""Parameters that an arm_simulator has and a dVRK lacks; the second one names its arms."""


class _Verdict(NamedTuple):
    """What is known about the arm.

    Attributes:
        refusal: Why it must not be commanded; None if it may.
        is_open: Whether that is only because discovery or a question is still pending.
        is_stranger: Whether we know that it is not a simulated arm.
    """

    refusal: Finding | None = None
    is_open: bool = False
    is_stranger: bool = False


class ArmIdentity:
    """Watches who publishes an arm's state.

    Args:
        node: The node, which must be spinning.
        arm: Name of the arm.
        hardware: What may be commanded.
    """

    def __init__(self, node: Node, arm: str, hardware: str) -> None:
        self._node = node
        self._arm = arm
        self._topic = f"{arm}/measured_js"
        self._needs_simulator = hardware == SIMULATED
        self._known: tuple[Any, ...] | None = ()
        self._trusted: tuple[bytes, ...] | None = None
        """The state publisher that we found to be a simulated arm."""
        self._verdict = self._nobody()
        self._question: _Question | None = None
        self._looks = 0
        self.publishers: tuple[str, ...] = ()
        """Names of the nodes that publish the arm's state."""
        self.is_asking = False
        """Whether we do not know yet who publishes after a silence."""
        self._asked_s = 0.0
        create_steady_timer(node, _LOOK_S, self._look)

    @property
    def asked_s(self) -> float:
        """How long we have been asking who publishes after a silence (s)."""
        return time.monotonic() - self._asked_s

    def find_refusal(self) -> Finding | None:
        """Why the arm must not be commanded; None if it may. From any thread."""
        return self._verdict.refusal

    def find_open_question(self) -> Finding | None:
        """Why the arm is not identified yet; None if it is. From any thread."""
        verdict = self._verdict
        return verdict.refusal if verdict.is_open else None

    @property
    def is_stranger(self) -> bool:
        """Whether the arm is known not to be simulated when only simulated arms are allowed."""
        return self._verdict.is_stranger

    def ask_again(self) -> None:
        """Revoke trust until the publisher answers: another arm may have replaced a silent one.

        The graph shows departures and arrivals only with a delay. From any thread.
        """
        if self._needs_simulator:
            text = f"{self._arm} was silent, and who publishes it now is being asked"
            self._verdict = _Verdict(Finding(Reason.NOT_SIMULATED, text), is_open=True)
            self._known = self._trusted = None
            self.is_asking, self._asked_s = True, time.monotonic()

    def _nobody(self) -> _Verdict:
        what = f"nobody publishes {self._topic}"
        return _Verdict(Finding(Reason.STALE_STATE, what), is_open=True)

    def _look(self) -> None:
        """Check who publishes, and question a new publisher."""
        self._looks += 1
        if not self._verdict.is_open and self._looks % _LOOK_EVERY != 0:
            return
        found = self._node.get_publishers_info_by_topic(self._topic)
        names = [_full_name(info) for info in found]
        # Parameters are queried by node name: of two nodes with one name, either might answer.
        gids = tuple(sorted(bytes(info.endpoint_gid) for info in found))
        namesakes = _count_nodes(self._node, names[0]) if len(names) == 1 else 0
        if gids == self._trusted:
            # A later node with the same name did not publish this.
            namesakes = 1
        key = (namesakes, *gids)
        if key != self._known:
            self._known = key
            self.publishers = tuple(names)
            self._judge(names, namesakes)
        question = self._question
        if question is not None:
            question.ask()
            if question.age_s > _ANSWER_S:
                # A dVRK without parameter services never answers.
                self._verdict = _refuse(question.name)

    def _judge(self, names: list[str], namesakes: int) -> None:
        if self._question is not None:
            self._question.close()
            self._question = None
        if not names:
            self._verdict = self._nobody()
        elif len(names) > 1:
            # All of them receive our commands, and any may be a real arm.
            what = f"{len(names)} nodes publish {self._topic}: {', '.join(names)}"
            reason = Reason.NOT_SIMULATED if self._needs_simulator else Reason.STALE_STATE
            self.is_asking = False
            self._verdict = _Verdict(Finding(reason, what))
        elif not self._needs_simulator:
            self._verdict = _Verdict()
        elif namesakes > 1:
            self.is_asking = False
            text = f"{namesakes} nodes are called {names[0]}, and one of them may be a real arm"
            self._verdict = _Verdict(Finding(Reason.NOT_SIMULATED, text))
        else:
            text = f"{names[0]} is being asked whether it is an arm_simulator"
            self._verdict = _Verdict(Finding(Reason.NOT_SIMULATED, text), is_open=True)
            self._question = _Question(self._node, names[0], self._hear)

    def _hear(self, name: str, values: list[Any]) -> None:
        if self._question is not None:
            self._question.close()
            self._question = None
        known = self._known
        if known is None or _count_nodes(self._node, name) != 1:
            # The arm was silent meanwhile, or another node may have answered: check again.
            self._known = None
            return
        self.is_asking = False
        is_simulator = len(values) == len(_MARKS) and all(value.type for value in values)
        is_ours = is_simulator and self._arm in values[1].string_array_value
        self._verdict = _Verdict() if is_ours else _refuse(name)
        self._trusted = known[1:] if is_ours else None


class _Question:
    """Asks a node for the marks of a simulator until it answers."""

    def __init__(self, node: Node, name: str, on_answer: Callable[[str, list[Any]], None]) -> None:
        self.name = name
        self._node = node
        self._on_answer = on_answer
        self._client = node.create_client(GetParameters, f"{name}/get_parameters")
        self._made_s = time.monotonic()
        self._asked_s: float | None = None
        self._futures: list[Any] = []
        self._is_open = True

    @property
    def age_s(self) -> float:
        """How long we have been waiting for the answer (s)."""
        return time.monotonic() - self._made_s

    def ask(self) -> None:
        """Ask if the service is there and it is time to ask.

        A slow node may answer a much older question; that counts, too.
        """
        now = time.monotonic()
        is_time = self._asked_s is None or now - self._asked_s > _ASK_AGAIN_S
        if is_time and self._client.service_is_ready():
            self._asked_s = now
            future = self._client.call_async(GetParameters.Request(names=list(_MARKS)))
            self._futures.append(future)
            future.add_done_callback(self._hear)

    def close(self) -> None:
        """Stop waiting for an answer."""
        self._is_open = False
        for future in self._futures:
            if not future.done():
                self._client.remove_pending_request(future)
        self._node.destroy_client(self._client)

    def _hear(self, future: Any) -> None:
        answer = future.result()
        if self._is_open and answer is not None:
            self._on_answer(self.name, list(answer.values))


def _count_nodes(node: Node, full_name: str) -> int:
    found = node.get_node_names_and_namespaces()
    return sum(f"{space.rstrip('/')}/{name}" == full_name for name, space in found)


def _refuse(name: str) -> _Verdict:
    text = f"{name} is no arm_simulator; to command a real arm, start with hardware:=dvrk"
    return _Verdict(Finding(Reason.NOT_SIMULATED, text), is_stranger=True)


def _full_name(info: Any) -> str:
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"
