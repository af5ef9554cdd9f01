"""Services that a loop answers by itself, at once or seconds later.

A loop looks for requests once a tick. Whatever it waits for, nothing else waits behind it.

Answers rclpy 7.1, whose executor wants the answer from the callback: one that waits blocks all
others, and one that awaits a future goes on only when something else wakes the executor. Needed
while this passes: ``test_plain_rclpy.py::test_what_is_awaited_does_not_wake_its_executor``.
"""

from __future__ import annotations

from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.dropped_messages import dropped_by
from dvrk_kinematics.ros.rclpy_ext.patient_answers import PatientAnswers, ReplyGate
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import NeverExecuted

__all__ = ["PolledService"]


class PolledService:
    """A service whose requests are taken when asked for; a thousand small ones can wait.

    Args:
        node: The node.
        service_type: The service class.
        name: Name of the service.
        gate: Whether answers can be heard; by default as the graph tells.
    """

    def __init__(
        self, node: Node, service_type: Any, name: str, gate: ReplyGate | None = None
    ) -> None:
        self._type = service_type
        self._service = node.create_service(
            service_type,
            name,
            lambda _, response: response,
            qos_profile=qos.TRIGGER,
            callback_group=NeverExecuted(),
        )
        self._name = name
        self._dropped = dropped_by(node)
        self._answers = PatientAnswers(node, self._service, gate)

    def take(self) -> tuple[Any, Any] | None:
        """A request that waits, with the header that its answer needs; None if there is none.

        Answers that nobody could hear before are sent now, if that has changed.
        """
        self._answers.send_waiting()
        handle = self._service.handle
        try:
            with handle:
                request, header = handle.service_take_request(self._type.Request)
        except rclpy_implementation.RCLError as error:
            self._dropped.note(self._name, error)
            return None
        return None if header is None else (request, header)

    def answer(self, header: Any, **fields: Any) -> None:
        """Answer a request, or keep the answer until it can be heard.

        Args:
            header: What came with the request.
            **fields: Fields of the response.
        """
        self._answers.send(self._type.Response(**fields), header)
