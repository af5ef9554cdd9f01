"""Answers of a service that are kept until the client can receive them.

Answers rclpy 7.1 with rmw_fastrtps 8.4: an answer is lost, and a goal with it, if DDS has not yet
discovered the client's reader. No test can choose when DDS discovers it.
``test_patient_answers.py::test_both_ends_of_every_client_are_counted`` checks what the graph shows
meanwhile, and ``test_a_goal_begins_once_its_client_can_hear_of_it`` checks the effect.
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
"""A client whose reader is missing for this long does not want answers.

A busy machine takes many seconds to discover it, and an answer sent before that is lost. A client
that never reads delays the others once, when it appears.
"""

_PREFIX_BYTES = 12
"""How many bytes of a DDS endpoint's id identify its participant."""


class ReplyGate:
    """The clients of one service, as far as their endpoints were discovered.

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
        """Return whether every discovered client can receive answers, or has timed out."""
        deaf = self._find_deaf()
        now_s = time.monotonic()
        if deaf != self._deaf:
            self._deaf, self._deaf_since_s = deaf, now_s
        return not deaf or now_s - self._deaf_since_s > PATIENCE_S

    def _find_deaf(self) -> Counter[bytes]:
        """Return the participants with more request writers than answer readers."""
        asking = self._node.get_publishers_info_by_topic(self._requests, no_mangle=True)
        hearing = self._node.get_subscriptions_info_by_topic(self._replies, no_mangle=True)
        return count_participants(asking) - count_participants(hearing)


def count_participants(ends: Iterable[TopicEndpointInfo]) -> Counter[bytes]:
    """Count the endpoints of each participant."""
    return Counter(bytes(end.endpoint_gid[:_PREFIX_BYTES]) for end in ends)


_ACQUAINTED = 10
"""A client that has sent more requests than this has received answers before."""

_LOOK_S = 0.02
"""How often to check whether waiting answers can be sent."""


class PatientAnswers:
    """Sends the answers of one service.

    Args:
        node: The node that serves.
        service: Its service.
        gate: Whether clients can receive answers; by default, the graph decides.
    """

    def __init__(self, node: Node, service: Service, gate: ReplyGate | None = None) -> None:
        self._logger = node.get_logger()
        self._name = service.srv_name
        self._send_response = service.send_response
        self._gate = gate or ReplyGate(node, service.srv_name)
        self._waiting: deque[tuple[Any, Any]] = deque()

    def send(self, response: Any, header: Any) -> None:
        """Send an answer, now or when the client can receive it.

        Args:
            response: The answer.
            header: The header of the request.
        """
        if header.request_id.sequence_number > _ACQUAINTED:
            self._send(response, header)
        else:
            self._waiting.append((response, header))
            self.send_waiting()

    def send_waiting(self) -> bool:
        """Send the waiting answers if clients can receive them; return whether none is left."""
        if self._waiting and self._gate.is_open:
            while self._waiting:
                self._send(*self._waiting.popleft())
        return not self._waiting

    def _send(self, response: Any, header: Any) -> None:
        try:
            self._send_response(response, header)
        except rclpy_implementation.RCLError as error:
            # A client that did not wait for its answer must not stop us.
            self._logger.info(f"{self._name}: nobody waits for the answer ({error})")


def create_patient_service(
    node: Node,
    service_type: Any,
    name: str,
    callback: Callable[[Any, Any], Any],
    gate: ReplyGate | None = None,
) -> Service:
    """Create a service like a node does, but with answers that wait for their client.

    Args:
        node: The node, which must be spun.
        service_type: The service class.
        name: Name of the service.
        callback: Called with request and response, returns the response. If it raises, the answer
            carries the explanation, as far as the type has a field for it.
        gate: Whether clients can receive answers; by default, the graph decides.
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
            # Created only when needed: an executor checks every timer in every round.
            timer = create_steady_timer(node, _LOOK_S, lambda: look(timer))

    def look(timer: Timer) -> None:
        if answers.send_waiting():
            node.destroy_timer(timer)

    # The executor calls this once the callback has returned the response.
    service.send_response = send
    return service
