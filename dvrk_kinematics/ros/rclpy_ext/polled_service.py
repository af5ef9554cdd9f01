"""Services that a loop answers on its own, at once or seconds later.

A loop checks for requests once per tick. Whatever it waits for, it blocks nothing else.

Answers rclpy 7.1, whose executor wants the answer from the callback: one that waits blocks all
others, and one that awaits a future continues only when something else wakes the executor. Needed
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
    """A service whose requests the caller takes on demand; a thousand small ones can wait.

    Args:
        node: The node.
        service_type: The service class.
        name: Name of the service.
        gate: Whether clients can receive answers; by default, the graph decides.
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
        """Take a waiting request, with the header that its answer needs; None if there is none.

        This also sends answers that waited for their clients, if these can now receive them.
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
        """Answer a request, or keep the answer until the client can receive it.

        Args:
            header: The header of the request.
            **fields: Fields of the response.
        """
        self._answers.send(self._type.Response(**fields), header)
