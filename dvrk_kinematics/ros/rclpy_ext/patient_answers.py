"""Answers of a service that are kept until whoever asked can hear them.

Answers rclpy 7.1 with rmw_fastrtps 8.4: an answer is lost, and a goal with it, if the end of the
client that hears was not found yet. When DDS finds it no test can choose; what the graph shows
meanwhile is what ``test_patient_answers.py::test_both_ends_of_every_client_are_counted`` looks at,
and ``test_a_goal_begins_once_its_client_can_hear_of_it`` what follows from it.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.service import Service
from rclpy.timer import Timer
from rclpy.topic_endpoint_info import TopicEndpointInfo

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.explain import explain
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = [
    "PATIENCE_S",
    "PatientAnswers",
    "ReplyGate",
    "count_participants",
    "create_patient_service",
]

PATIENCE_S = 30.0
"""An end that is missing for so long belongs to something that wants no answers.

A busy machine takes many seconds to find it, and an answer that is sent before is lost. Who never
hears keeps the others waiting once, when it comes.
"""

_PREFIX_BYTES = 12
"""How much of the id of a DDS endpoint names its participant."""


class ReplyGate:
    """The clients of one service, as far as their ends were found.

    Args:
        node: The node that serves.
        service: Name of the service.
    """

    def __init__(self, node: Node, service: str) -> None:
        name = node.resolve_service_name(service)
        self._node = node
        self._requests, self._replies = f"rq{name}Request", f"rr{name}Reply"
        self._deaf: Counter[bytes] = Counter()
        self._deaf_since_s = 0.0

    @property
    def is_open(self) -> bool:
        """Whether every client that was found can hear, or has had its time."""
        deaf = self._find_deaf()
        now_s = time.monotonic()
        if deaf != self._deaf:
            self._deaf, self._deaf_since_s = deaf, now_s
        return not deaf or now_s - self._deaf_since_s > PATIENCE_S

    def _find_deaf(self) -> Counter[bytes]:
        """Participants that have more ends that ask than ends that hear."""
        asking = self._node.get_publishers_info_by_topic(self._requests, no_mangle=True)
        hearing = self._node.get_subscriptions_info_by_topic(self._replies, no_mangle=True)
        return count_participants(asking) - count_participants(hearing)


def count_participants(ends: Iterable[TopicEndpointInfo]) -> Counter[bytes]:
    """How many of the ends each participant has."""
    return Counter(bytes(end.endpoint_gid[:_PREFIX_BYTES]) for end in ends)


_ACQUAINTED = 10
"""A client that asks for so many times was heard and answered before."""

_LOOK_S = 0.02
"""How often to look whether answers that wait can be heard."""


class PatientAnswers:
    """Sends the answers of one service.

    Args:
        node: The node that serves.
        service: Its service.
        gate: Whether answers can be heard; by default as the graph tells.
    """

    def __init__(self, node: Node, service: Service, gate: ReplyGate | None = None) -> None:
        self._logger = node.get_logger()
        self._name = service.srv_name
        self._send_response = service.send_response
        self._gate = gate or ReplyGate(node, service.srv_name)
        self._waiting: deque[tuple[Any, Any]] = deque()

    def send(self, response: Any, header: Any) -> None:
        """Send an answer, now or when it can be heard.

        Args:
            response: The answer.
            header: What came with the request.
        """
        if header.request_id.sequence_number > _ACQUAINTED:
            self._send(response, header)
        else:
            self._waiting.append((response, header))
            self.send_waiting()

    def send_waiting(self) -> bool:
        """Send the answers that wait, if they can be heard; tells whether none is left."""
        if self._waiting and self._gate.is_open:
            while self._waiting:
                self._send(*self._waiting.popleft())
        return not self._waiting

    def _send(self, response: Any, header: Any) -> None:
        try:
            self._send_response(response, header)
        except rclpy_implementation.RCLError as error:
            # A client that did not wait for its answer is no reason to stop.
            self._logger.info(f"{self._name}: nobody waits for the answer ({error})")


def create_patient_service(
    node: Node,
    service_type: Any,
    name: str,
    callback: Callable[[Any, Any], Any],
    gate: ReplyGate | None = None,
) -> Service:
    """Create a service as a node does, whose answers wait until they can be heard.

    Args:
        node: The node, which must be spun.
        service_type: The service class.
        name: Name of the service.
        callback: Called with request and response, gives the response. What it raises is answered
            in words, as far as the type has a place for them.
        gate: Whether answers can be heard; by default as the graph tells.
    """

    def answer(request: Any, response: Any) -> Any:
        try:
            return callback(request, response)
        except Exception as error:
            text = explain(error, node.get_logger())
            has_words = hasattr(service_type.Response, "message")
            return service_type.Response(**({"message": text} if has_words else {}))

    service: Service = node.create_service(service_type, name, answer, qos_profile=qos.SERVICE)
    answers = PatientAnswers(node, service, gate)

    def send(response: Any, header: Any) -> None:
        answers.send(response, header)
        if not answers.send_waiting():
            # Made when it is needed: an executor looks at every timer in every round.
            timer = create_steady_timer(node, _LOOK_S, lambda: look(timer))

    def look(timer: Timer) -> None:
        if answers.send_waiting():
            node.destroy_timer(timer)

    # What the executor calls once the callback has given the response.
    service.send_response = send
    return service
