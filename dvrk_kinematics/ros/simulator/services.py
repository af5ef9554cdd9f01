"""Services of simulated arms.

The executor's thread answers them. It therefore takes the lock that the loop holds while it works
on the arms; the loop waits for one kinematics call at most. If a call makes an arm publish a
warning, the loop sends it in its next cycle, so that all topics have one writer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.node import Node

from dvrk_kinematics.geometry.floats import pose_numbers
from dvrk_kinematics.ros.common.conversions import to_flat
from dvrk_kinematics.ros.crtk.contract import CRTK_VERSION, Service
from dvrk_kinematics.ros.rclpy_ext.patient_answers import create_patient_service
from dvrk_kinematics.ros.simulator.command_queue import pose_or_none
from dvrk_kinematics.simulation import SimulatedArm

__all__ = ["offer_services"]

Answer = Callable[[SimulatedArm, Any, Any], None]


def offer_services(
    node: Node,
    services: Iterable[Service],
    namespace: str,
    arm: SimulatedArm,
    lock: threading.Lock,
) -> None:
    """Offer the services of an arm.

    Args:
        node: The node.
        services: Services of the contract.
        namespace: Where their names begin.
        arm: The arm that answers.
        lock: Held while the arm computes the answer.
    """
    for service in services:
        answer = _ANSWERS[service.name]
        name, handle = namespace + service.name, _locked(answer, arm, lock)
        create_patient_service(node, service.service, name, handle)


def _locked(answer: Answer, arm: SimulatedArm, lock: threading.Lock) -> Callable[[Any, Any], Any]:
    def handle(request: Any, response: Any) -> Any:
        with lock:
            answer(arm, request, response)
        return response

    return handle


def _operating_state(arm: SimulatedArm, _: Any, response: Any) -> None:
    # Without a stamp, like the dVRK's answer.
    state = arm.operating_state
    response.operating_state.state = state.state
    response.operating_state.is_homed = state.is_homed
    response.operating_state.is_busy = state.is_busy


def _crtk_version(_arm: SimulatedArm, _: Any, response: Any) -> None:
    response.success, response.message = True, CRTK_VERSION


def _forward(arm: SimulatedArm, request: Any, response: Any) -> None:
    _write_forward(arm.forward_kinematics(request.jp.tolist()), response)


def _local_forward(arm: SimulatedArm, request: Any, response: Any) -> None:
    _write_forward(arm.forward_kinematics(request.jp.tolist(), local=True), response)


def _write_forward(answer: Any, response: Any) -> None:
    p, q = response.cp.position, response.cp.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = pose_numbers(answer.T.tolist())
    response.result, response.message = answer.result, answer.message


def _inverse(arm: SimulatedArm, request: Any, response: Any) -> None:
    answer = arm.inverse_kinematics(pose_or_none(request.cp), request.jp.tolist())
    response.jp = to_flat(answer.jp)
    response.result, response.message = answer.result, answer.message


_ANSWERS: dict[str, Answer] = {
    "operating_state": _operating_state,
    "crtk_version": _crtk_version,
    "forward_kinematics": _forward,
    "local/forward_kinematics": _local_forward,
    "inverse_kinematics": _inverse,
}
"""Answer functions by service name."""
