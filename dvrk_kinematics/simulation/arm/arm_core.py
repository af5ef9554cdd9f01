"""The parts of an arm that its states, commands and readings share."""

from __future__ import annotations

from dvrk_kinematics.simulation.arm.arm_readings import ArmReadings
from dvrk_kinematics.simulation.arm.arm_states import Readiness
from dvrk_kinematics.simulation.arm.command_gate import CommandGate
from dvrk_kinematics.simulation.control.base_frame import BaseFrame
from dvrk_kinematics.simulation.control.controller_data import ControllerData
from dvrk_kinematics.simulation.control.joint_servo import JointServo
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.control.motion_controller import MotionController
from dvrk_kinematics.simulation.control.operating_state import OperatingStateMachine
from dvrk_kinematics.simulation.control.reporter import Reporter
from dvrk_kinematics.simulation.control.tip_kinematics import TipKinematics
from dvrk_kinematics.simulation.options import ArmSpec
from dvrk_kinematics.simulation.plants import KinematicPlant

__all__ = ["ArmCore"]


class ArmCore:
    """Makes each part once, in the order of their dependencies.

    Args:
        spec: Which arm.
        data: Gains, tolerances, home and cannula.
        mechanism: How its motors, joints and tip are connected.

    Attributes:
        name: Name of the arm.
        data: As given.
        mechanism: As given.
        report: Collects its events.
        memo: Results computed for its present joints.
        machine: Its operating state, and the events that report it.
        readiness: Whether its joints and tip are known and can be moved.
        servo: Its PID loops and the mechanics they drive.
        base: Where its base is.
        tip: Kinematics of its tip.
        controller: Its goals and moves.
        gate: The checks that every command passes first.
        readings: Readings of its joints and its tip.
    """

    def __init__(self, spec: ArmSpec, data: ControllerData, mechanism: Mechanism) -> None:
        self.name = spec.name
        self.data = data
        self.mechanism = mechanism
        self.report = Reporter(spec.name)
        self.memo = Memo()
        self.machine = OperatingStateMachine(self.report)
        self.readiness = Readiness(mechanism)
        self.servo = JointServo(spec.plant or KinematicPlant(), mechanism, data, self.memo)
        self.base = BaseFrame(spec.name, spec.base_frame, spec.base_frame_id, self.memo)
        self.tip = TipKinematics(mechanism, self.servo, self.base, self.memo, self.report)
        self.controller = MotionController(
            mechanism, self.servo, self.tip, self.machine, data, self.report
        )
        self.gate = CommandGate(self.machine, self.readiness, self.controller, self.report)
        self.readings = ArmReadings(
            mechanism,
            self.servo,
            self.tip,
            self.base,
            self.controller,
            self.readiness,
            data,
            self.memo,
        )
