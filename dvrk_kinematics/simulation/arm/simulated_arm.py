"""One simulated arm, assembled from its parts.

Commands never raise: their errors come back as events, as from the real arm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.simulation.arm.arm_core import ArmCore
from dvrk_kinematics.simulation.arm.arm_states import ArmStates, LastingReadings
from dvrk_kinematics.simulation.arm.attachment import Attachment
from dvrk_kinematics.simulation.arm.cartesian_commands import CartesianCommands
from dvrk_kinematics.simulation.arm.joint_commands import JointCommands
from dvrk_kinematics.simulation.arm.kinematics_services import KinematicsServices
from dvrk_kinematics.simulation.control import Mode, State, SubState
from dvrk_kinematics.simulation.control.joint_servo import tracking_text
from dvrk_kinematics.simulation.faults import Fault, FaultKind
from dvrk_kinematics.simulation.options import SystemOptions
from dvrk_kinematics.simulation.readings import (
    Event,
    JointReading,
    OperatingStateReading,
    PoseReading,
    TwistReading,
    WrenchReading,
)

__all__ = ["SimulatedArm"]

_CYCLE_S = 0.005
"""Moves are followed in cycles no longer than this, however long a step is: the PID compares
set-points with positions at 1.5 kHz, and a late step must not look like a tracking error."""

_MOVING = frozenset({SubState.HOMING, SubState.HOMED})
"""States in which set-points move."""

_WATCHED = frozenset(
    {
        SubState.HOMING,
        SubState.HOMED,
        SubState.ENGAGING_ADAPTER,
        SubState.ENGAGING_TOOL,
        SubState.TOOL_ENGAGED,
        SubState.PAUSED,
    }
)
"""States in which the PID watches tracking errors: from homing on."""


class SimulatedArm:
    """The interface common to all arms; kinds of arms add their own parts.

    Commands act when called; the next ``step`` moves the joints. Of several servo commands
    between two steps the newest wins. Joint vectors may have any length and any content: we
    reproduce the dVRK's handling of wrong ones, see ``deviations``.

    Readings are computed on demand, and once a cycle.

    Args:
        core: Its parts, which commands and readings share.
        kind: Kind of its topics: "PSM", "ECM" or "ARM".
        attachment: The tool or endoscope at its end.
        options: Options of the whole system.
        readings: Readings of the kind, whose last content is kept when joints are not known.

    Attributes:
        name: Name on the graph ("PSM1").
        kind: Kind of its topics.
        servo: Set-points and measured positions of its driven joints.
        mechanism: How its motors, joints and tip are connected.
        commands: The method behind every command topic.
        readings: The method behind every state topic.
    """

    def __init__(
        self,
        core: ArmCore,
        kind: str,
        attachment: Attachment,
        options: SystemOptions,
        readings: Sequence[LastingReadings] = (),
    ) -> None:
        self.name = core.name
        self.kind = kind
        self.servo = core.servo
        self.mechanism = core.mechanism
        self._attachment = attachment
        self._base = core.base
        self._controller = core.controller
        self._data = core.data
        self._machine = core.machine
        self._memo = core.memo
        self._readiness = core.readiness
        self._report = core.report
        self._is_running = False
        self._told = core.readings
        self._states = ArmStates(
            core.machine,
            core.readiness,
            core.controller,
            core.servo,
            attachment,
            (*readings, core.readings),
            options,
            core.memo,
            core.report,
        )
        joint = JointCommands(core.gate, core.controller, core.mechanism, core.report)
        cartesian = CartesianCommands(
            core.gate,
            core.controller,
            core.mechanism,
            core.tip,
            core.base,
            core.readiness,
            core.report,
        )
        services = KinematicsServices(core.mechanism, core.tip, core.base, core.report)

        self.state_command = self._states.state_command
        self.hold = joint.hold
        self.free = joint.free
        self.servo_jp = joint.servo_jp
        self.servo_jr = joint.servo_jr
        self.servo_jf = joint.servo_jf
        self.move_jp = joint.move_jp
        self.move_jr = joint.move_jr
        self.trajectory_j_set_ratio = joint.set_ratio
        self.trajectory_j_set_ratio_v = joint.set_ratio_v
        self.trajectory_j_set_ratio_a = joint.set_ratio_a
        self.servo_cp = cartesian.servo_cp
        self.servo_cs = cartesian.servo_cs
        self.servo_ci = cartesian.servo_ci
        self.move_cp = cartesian.move_cp
        self.body_servo_cf = cartesian.body_servo_cf
        self.spatial_servo_cf = cartesian.spatial_servo_cf
        self.body_set_cf_orientation_absolute = cartesian.body_set_cf_orientation_absolute
        self.set_base_frame = cartesian.set_base_frame
        self.forward_kinematics = services.forward_kinematics
        self.inverse_kinematics = services.inverse_kinematics

        self.commands: dict[str, Callable[..., None]] = {
            "state_command": self.state_command,
            "hold": self.hold,
            "free": self.free,
            "servo_jp": self.servo_jp,
            "servo_jr": self.servo_jr,
            "servo_jf": self.servo_jf,
            "move_jp": self.move_jp,
            "move_jr": self.move_jr,
            "trajectory_j/set_ratio": self.trajectory_j_set_ratio,
            "trajectory_j/set_ratio_v": self.trajectory_j_set_ratio_v,
            "trajectory_j/set_ratio_a": self.trajectory_j_set_ratio_a,
            "servo_cp": self.servo_cp,
            "servo_cs": self.servo_cs,
            "servo_ci": self.servo_ci,
            "move_cp": self.move_cp,
            "body/servo_cf": self.body_servo_cf,
            "spatial/servo_cf": self.spatial_servo_cf,
            "body/set_cf_orientation_absolute": self.body_set_cf_orientation_absolute,
            "set_base_frame": self.set_base_frame,
            "use_gravity_compensation": self.use_gravity_compensation,
        }
        self.readings: dict[str, Callable[[], Any]] = {
            "measured_js": self._told.measured_js,
            "setpoint_js": self._told.setpoint_js,
            "gravity_compensation/setpoint_js": self._told.gravity_compensation_setpoint_js,
            "measured_cp": self._told.measured_cp,
            "setpoint_cp": self._told.setpoint_cp,
            "local/measured_cp": self._told.local_measured_cp,
            "local/setpoint_cp": self._told.local_setpoint_cp,
            "measured_cv": self._told.measured_cv,
            "local/measured_cv": self._told.local_measured_cv,
            "body/measured_cf": self._told.measured_cf,
            "spatial/measured_cf": self._told.measured_cf,
            "body/jacobian": self._told.body_jacobian,
            "spatial/jacobian": self._told.spatial_jacobian,
        }

    def use_gravity_compensation(self, use: bool) -> None:
        """Requests gravity compensation; warns where it is not loaded."""
        if use and self._data.gravity is None:
            self._report.warning(
                "use_gravity_compensation(true) since gravity compensation is not loaded"
            )

    def carry(self, T: Array, frame_id: str, is_valid: bool) -> None:
        """Takes over the base that setup joints report; see ``BaseFrame.carry``."""
        self._base.carry(T, frame_id, is_valid)

    def take_events(self) -> list[Event]:
        """The events since the last call, in order, repeated as the dVRK repeats them."""
        return self._report.take()

    # The cycle.

    def step(self, now_ns: int) -> None:
        """Runs one control cycle. ``SimulatedSystem.step`` calls it for every arm.

        Args:
            now_ns: A monotonic time (ns); one before the last counts as the last.
        """
        controller, now = self._controller, now_ns * 1e-9
        if not self._is_running:
            self._is_running, controller.now_s = True, now
        before = controller.now_s
        now = max(now, before)
        self._states.transition()
        moving = controller.move is not None and self._machine.sub_state in _MOVING
        cycles = max(1, int((now - before) / _CYCLE_S - 1e-6) + 1) if moving else 1
        for cycle in range(1, cycles + 1):
            is_last = cycle == cycles
            controller.now_s = now if is_last else before + (now - before) * cycle / cycles
            self._control()
            self._follow((now - before) / cycles)
        self._memo.forget()

    def _control(self) -> None:
        if self._machine.sub_state is SubState.HOMED:
            self._controller.run_homed()
        elif self._machine.sub_state is SubState.HOMING and self._controller.run_homing():
            self._states.enter(SubState.HOMED)

    def _follow(self, dt: float) -> None:
        """PID and mechanics: compares, then lets the joints follow."""
        if not self._readiness.is_powered:
            return
        mask = None
        watched = self._machine.sub_state in _WATCHED and self._controller.mode is not Mode.EFFORT
        if watched and self._readiness.joints:
            mask = self.servo.tracking_mask()
        self.servo.follow(dt, self._controller.now_s)
        if mask is not None and self._machine.state is not State.FAULT:
            self._states.fail(tracking_text(self.name, mask))

    # Readings.

    @property
    def operating_state(self) -> OperatingStateReading:
        """DISABLED, ENABLED, PAUSED or FAULT; homed; busy."""
        return self._machine.reading

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, as in measured_js when homed; () before."""
        return self._told.measured_js().names

    @property
    def measured_js(self) -> JointReading:
        """Measured joints."""
        return self._told.measured_js()

    @property
    def setpoint_js(self) -> JointReading:
        """The setpoint of the PID, and its resulting effort."""
        return self._told.setpoint_js()

    @property
    def gravity_compensation_setpoint_js(self) -> JointReading:
        """Efforts of gravity compensation only."""
        return self._told.gravity_compensation_setpoint_js()

    @property
    def measured_cp(self) -> PoseReading:
        """Tip in the base frame's reference."""
        return self._told.measured_cp()

    @property
    def setpoint_cp(self) -> PoseReading:
        """Tip of the set-point in the base frame's reference."""
        return self._told.setpoint_cp()

    @property
    def local_measured_cp(self) -> PoseReading:
        """Tip in the arm's own base."""
        return self._told.local_measured_cp()

    @property
    def local_setpoint_cp(self) -> PoseReading:
        """Tip of the set-point in the arm's own base."""
        return self._told.local_setpoint_cp()

    @property
    def measured_cv(self) -> TwistReading:
        """Velocity of the tip along the axes of measured_cp's frame."""
        return self._told.measured_cv()

    @property
    def local_measured_cv(self) -> TwistReading:
        """Velocity of the tip along the axes of the tip."""
        return self._told.local_measured_cv()

    @property
    def body_measured_cf(self) -> WrenchReading:
        """Wrench at the tip, along its axes."""
        return self._told.measured_cf()

    @property
    def spatial_measured_cf(self) -> WrenchReading:
        """Wrench along the axes of the base."""
        return self._told.measured_cf()

    @property
    def body_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, along the axes of the tip."""
        return self._told.body_jacobian()

    @property
    def spatial_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, along the axes of the base."""
        return self._told.spatial_jacobian()

    # For tests and teaching.

    def inject(self, fault: Fault) -> None:
        """Makes something go wrong, from the next cycle on.

        Raises:
            UnknownName: The joint does not exist.
        """
        servo = self.servo
        if fault.kind is FaultKind.POWER_LOSS:
            self._states.lose_power()
        elif fault.kind is FaultKind.STALLED_JOINT:
            joint = self._joint_index(fault.joint)
            until = self._controller.now_s + fault.duration_s if fault.duration_s > 0.0 else inf
            servo.faults.stall(joint, servo.measured[joint], until)
        elif fault.kind is FaultKind.ENCODER_JUMP:
            joint = self._joint_index(fault.joint)
            servo.faults.offset(joint, fault.value)
            servo.measured[joint] += fault.value
            self._memo.forget()
        elif fault.kind is FaultKind.TOOL_REMOVED:
            self._attachment.show(False)
        else:
            servo.faults.clear()
            self._attachment.put_back()

    def _joint_index(self, joint: str) -> int:
        """The driven joint with a name; the first for an empty name.

        Raises:
            UnknownName: There is none.
        """
        names = self.mechanism.driven_names()
        if not joint:
            return 0
        if joint not in names:
            raise UnknownName("joint", joint, names)
        return names.index(joint)
