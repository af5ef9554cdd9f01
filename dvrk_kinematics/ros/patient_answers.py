"""Answers of a service that are kept until whoever asked can hear them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.service import Service
from rclpy.timer import Timer

from dvrk_kinematics.ros import qos
from dvrk_kinematics.ros.explaining import explain
from dvrk_kinematics.ros.reply_gate import ReplyGate
from dvrk_kinematics.ros.steady_timer import create_steady_timer

__all__ = ["PatientAnswers", "create_patient_service"]

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
