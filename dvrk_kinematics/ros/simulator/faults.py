"""Deliberate faults for tests and teaching: one trigger per fault, offered only on request.

The services are below the node's own name (``/dvrk/faults/PSM1/power_loss``), where no real arm
has any names. Which joint, how far and how long are parameters of the node.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.ros.common.stamps import seconds_to_ns
from dvrk_kinematics.ros.rclpy_ext.patient_answers import create_patient_service
from dvrk_kinematics.ros.simulator.settings import SimulatorSettings
from dvrk_kinematics.ros.simulator.stamps import random_of
from dvrk_kinematics.ros.simulator.state_publishers import Delivery, StateGate
from dvrk_kinematics.simulation import Fault, FaultKind, LatePublisher, SimulatedArm

__all__ = ["FAULT_SERVICES", "offer_faults"]

FAULT_SERVICES = {
    "power_loss": "motor power goes, as when the safety chain opens",
    "stalled_joint": "`fault_joint` stops following its goal",
    "encoder_jump": "the measured position of `fault_joint` is off by `fault_jump`",
    "tool_removed": "the tool is taken off (PSM)",
    "dropped_state": "no state topic is sent any more; events are",
    "delayed_state": "state topics are sent `fault_delay` late",
    "late_publisher": "state topics are sent as by a loaded dvrk_system: in bursts after gaps of "
    "up to `fault_longest_gap`, or not at all for as long",
    "clear": "ends all of these; a tool that was taken off is put back",
}
"""Every fault and what it does."""


class _Injector:
    """Injects faults into one arm."""

    def __init__(
        self, arm: SimulatedArm, gate: StateGate, settings: Callable[[], SimulatorSettings]
    ) -> None:
        self._arm = arm
        self._gate = gate
        self._settings = settings
        self.by_service: dict[str, Callable[[], None]] = {
            "power_loss": self.power_loss,
            "stalled_joint": self.stalled_joint,
            "encoder_jump": self.encoder_jump,
            "tool_removed": self.tool_removed,
            "dropped_state": self.dropped_state,
            "delayed_state": self.delayed_state,
            "late_publisher": self.late_publisher,
            "clear": self.clear,
        }

    def power_loss(self) -> None:
        self._arm.inject(Fault(FaultKind.POWER_LOSS))

    def stalled_joint(self) -> None:
        self._arm.inject(Fault(FaultKind.STALLED_JOINT, joint=self._settings().fault_joint))

    def encoder_jump(self) -> None:
        settings = self._settings()
        self._arm.inject(
            Fault(FaultKind.ENCODER_JUMP, joint=settings.fault_joint, value=settings.fault_jump)
        )

    def tool_removed(self) -> None:
        self._arm.inject(Fault(FaultKind.TOOL_REMOVED))

    def dropped_state(self) -> None:
        self._gate.delivery = Delivery.DROPPED

    def delayed_state(self) -> None:
        self._gate.delay_ns = seconds_to_ns(self._settings().fault_delay)
        self._gate.delivery = Delivery.DELAYED

    def late_publisher(self) -> None:
        settings = self._settings()
        random = random_of(settings.seed, f"late {self._arm.name}")
        self._gate.late = LatePublisher(random, settings.fault_gaps, settings.fault_longest_gap)
        self._gate.delivery = Delivery.LATE

    def clear(self) -> None:
        self._gate.delivery = Delivery.SENT
        self._arm.inject(Fault(FaultKind.NONE))


def offer_faults(
    node: Node,
    arm: SimulatedArm,
    gate: StateGate,
    settings: Callable[[], SimulatorSettings],
    lock: threading.Lock,
) -> None:
    """Offer the services that inject faults into an arm.

    Args:
        node: The node.
        arm: The arm.
        gate: The gate for its state messages.
        settings: Returns the current parameters.
        lock: Held while a fault is injected.
    """
    injector = _Injector(arm, gate, settings)
    for fault in FAULT_SERVICES:
        handle = _trigger(injector.by_service[fault], lock)
        create_patient_service(node, Trigger, f"~/faults/{arm.name}/{fault}", handle)


def _trigger(inject: Callable[[], None], lock: threading.Lock) -> Callable[[Any, Any], Any]:
    def handle(_: Any, response: Any) -> Any:
        try:
            with lock:
                inject()
        except DvrkError as error:
            response.success, response.message = False, str(error)
        else:
            response.success = True
        return response

    return handle
