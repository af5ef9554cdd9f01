"""The control cycle of a simulated arm: modes, goals, moves, and what the PID makes of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum

from dvrk_kinematics.models.schema import JointModel
from dvrk_kinematics.simulation.arm_state import PoweredArm
from dvrk_kinematics.simulation.faults import FaultInjector
from dvrk_kinematics.simulation.operating_state import State, SubState
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.pid import tracking_mask, tracking_text
from dvrk_kinematics.simulation.plant import KinematicPlant, Plant
from dvrk_kinematics.simulation.trajectory import JointTrajectory

__all__ = ["ArmControl", "Mode", "Space"]

_CYCLE_S = 0.005
"""Moves are followed in cycles no longer than this, however long a step is: the PID compares
set-points with positions at 1.5 kHz, and a late step must not look like a tracking error."""


class Space(str, Enum):
    """What is controlled."""

    UNDEFINED = "UNDEFINED_SPACE"
    JOINT = "JOINT_SPACE"
    CARTESIAN = "CARTESIAN_SPACE"


class Mode(str, Enum):
    """How it is controlled."""

    UNDEFINED = "UNDEFINED_MODE"
    POSITION = "POSITION_MODE"
    TRAJECTORY = "TRAJECTORY_MODE"
    EFFORT = "EFFORT_MODE"


_SLOWEST = 1e-12
"""Least speed and acceleration of a move (SI): a ratio may be any number above 0, also one whose
product with a limit is not."""

_MOVING = frozenset({SubState.HOMING, SubState.HOMED})
"""Where set-points move."""

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
"""Where the PID watches tracking errors: from homing on."""


class ArmControl(PoweredArm):
    """Goals and set-points that all arms share. Joint vectors here are the driven joints."""

    _lower: tuple[float, ...]
    _upper: tuple[float, ...]
    _v_max: tuple[float, ...]
    _a_max: tuple[float, ...]

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        super().__init__(spec, options, kind)
        for topic in ("trajectory_j/ratio", "trajectory_j/ratio_v", "trajectory_j/ratio_a"):
            self._report.event(topic, 1.0)
        self._is_running = False
        self._plant: Plant = spec.plant or KinematicPlant()
        self._faults = FaultInjector()
        self._space, self._mode = Space.UNDEFINED, Mode.UNDEFINED
        self._move: JointTrajectory | None = None
        self._move_is_told = False
        self._move_waits = False
        self._move_start_s = 0.0
        self._last_goal = list(self._data.home)
        self._ratio_v = self._ratio_a = 1.0
        self._place([0.0] * len(self._data.home))
        self._limits_of_joints()

    # What kinds of arms differ in.

    @abstractmethod
    def _limits_of_joints(self) -> None:
        """Sets _lower, _upper, _v_max and _a_max of the driven joints."""

    def _take_limits(self, joints: Sequence[JointModel]) -> None:
        """Sets them as a model has them, one motor a joint."""
        self._lower = tuple(joint.lower for joint in joints)
        self._upper = tuple(joint.upper for joint in joints)
        self._v_max = tuple(joint.velocity for joint in joints)
        self._a_max = tuple(joint.acceleration for joint in joints)

    def _to_actuators(self, joints: Sequence[float]) -> Sequence[float]:
        """Joints to actuators, whose errors the PID watches."""
        return joints

    @abstractmethod
    def _may_go_cartesian(self) -> bool:
        """Whether the cannula is passed; the first of thousand refusals warns."""

    @abstractmethod
    def _solve_pose(self) -> None:
        """Turns a new pose goal into joint goals."""

    # What states do.

    def _end_control(self) -> None:
        self._switch(Space.UNDEFINED, Mode.UNDEFINED)

    def _begin_power(self) -> None:
        reset = self._options.reset_joints_on_enable
        joints = [0.0] * len(self._setpoint) if reset else self._faults.truth(self._measured)
        self._place(joints)

    def _calibrate(self) -> None:
        self._faults.clear_offsets()

    def _begin_homing(self) -> None:
        goal = list(self._data.home)
        if self._move is not None and self._move_is_told and not self._move_waits:
            # A client that was quicker than homing: its goal replaces that of homing.
            goal = self._move.goal
        self._move_waits = False
        self._goal_is_new = False
        self._switch(Space.JOINT, Mode.TRAJECTORY)
        self._move_at = (list(self._setpoint), [0.0] * len(self._setpoint))
        self._plan(goal)

    def _place(self, joints: list[float]) -> None:
        """Puts the joints somewhere at rest."""
        rest = [0.0] * len(joints)
        self._setpoint, self._setpoint_v = list(joints), list(rest)
        self._measured, self._measured_v = list(joints), list(rest)
        self._goal, self._goal_v, self._goal_is_new = list(joints), list(rest), False
        self._move_at = (list(joints), list(rest))
        self._plant.reset(joints)
        self._forget()

    # Control.

    def _switch(self, space: Space, mode: Mode) -> bool:
        """Changes what is controlled and how; False if the arm must not be controlled so now."""
        if space is self._space and mode is self._mode:
            return True
        if space is Space.CARTESIAN and space is not self._space and not self._may_go_cartesian():
            return False
        self._space = space
        if mode is not self._mode:
            if self._mode is Mode.TRAJECTORY and self._move is not None:
                self._end_move(False)
            self._begin(mode)
            self._mode = mode
        self._report.status(f"control {space.value}/{mode.value}")
        return True

    def _begin(self, mode: Mode) -> None:
        """Goals begin where the set-points are."""
        count = len(self._setpoint)
        if mode is Mode.POSITION:
            self._goal_is_new = False
            self._goal = list(self._setpoint)
            self._goal_v = [0.0] * count
        elif mode is Mode.TRAJECTORY:
            speed = [0.0] * count
            if self._mode is Mode.POSITION:
                # A stream goes over into a move with its speed, as far as moves may be fast.
                pairs = zip(self._measured_v, self._v_max, strict=True)
                speed = [max(-v, min(v, speed_now)) for speed_now, v in pairs]
            self._move_at = (list(self._setpoint), speed)

    def _plan(self, goal: list[float]) -> None:
        position, speed = self._move_at
        v = [max(self._ratio_v * limit, _SLOWEST) for limit in self._v_max]
        a = [max(self._ratio_a * limit, _SLOWEST) for limit in self._a_max]
        self._move = JointTrajectory(position, speed, goal, v, a)
        self._last_goal = list(goal)
        self._move_start_s = self._now_s

    def _end_move(self, reached: bool) -> None:
        """Ends a move; that of homing is not told."""
        self._move = None
        self._move_at = (list(self._setpoint), [0.0] * len(self._setpoint))
        if self._move_is_told:
            self._move_is_told = False
            self._report.event("goal_reached", reached)
            self._states.set_busy(False)

    def _clip(self, joints: Sequence[float]) -> list[float]:
        return [
            lo if q < lo else up if q > up else q
            for q, lo, up in zip(joints, self._lower, self._upper, strict=True)
        ]

    # The cycle.

    def step(self, now_ns: int) -> None:
        """One control cycle. ``SimulatedSystem.step`` calls it for every arm.

        Args:
            now_ns: A monotonic time (ns); one that is behind the last counts as the last.
        """
        now = now_ns * 1e-9
        if not self._is_running:
            self._is_running, self._now_s = True, now
        before = self._now_s
        now = max(now, before)
        self._transition()
        moving = self._move is not None and self._states.sub_state in _MOVING
        cycles = max(1, int((now - before) / _CYCLE_S - 1e-6) + 1) if moving else 1
        for cycle in range(1, cycles + 1):
            self._now_s = now if cycle == cycles else before + (now - before) * cycle / cycles
            self._control()
            self._follow((now - before) / cycles)
        self._forget()

    def _control(self) -> None:
        sub_state = self._states.sub_state
        if sub_state is SubState.HOMING:
            self._run_homing()
        elif sub_state is not SubState.HOMED:
            return
        elif self._mode is Mode.TRAJECTORY:
            if self._move is not None and self._run_move(self._move):
                self._end_move(True)
        elif self._mode is Mode.POSITION and self._goal_is_new:
            self._goal_is_new = False
            if self._space is Space.CARTESIAN:
                self._solve_pose()
            else:
                self._serve(self._goal, self._goal_v)

    def _serve(self, goal: Sequence[float], velocity: Sequence[float]) -> None:
        """Gives the PID a set-point."""
        self._setpoint = self._clip(goal)
        self._setpoint_v = list(velocity)

    def _run_move(self, move: JointTrajectory) -> bool:
        elapsed = self._now_s - self._move_start_s
        self._move_at = move.at(elapsed)
        self._serve(*self._move_at)
        return elapsed >= move.duration

    def _run_homing(self) -> None:
        if self._goal_is_new and self._space is Space.JOINT:
            # A servo command replaces where homing has got to.
            self._goal_is_new = False
            self._serve(self._goal, [0.0] * len(self._goal))
            self._move_at = (list(self._setpoint), [0.0] * len(self._setpoint))
            self._plan(list(self._data.home))
            return
        if self._move is None:
            self._plan(list(self._data.home))
        if self._move is not None and self._run_move(self._move):
            if not self._move_is_told:
                self._move = None
            self._enter(SubState.HOMED)

    def _follow(self, dt: float) -> None:
        """PID and mechanics: compares, then lets the joints follow."""
        if not self._powered:
            return
        mask = None
        watched = self._states.sub_state in _WATCHED and self._mode is not Mode.EFFORT
        if watched and self._is_joint_ready:
            mask = self._tracking_mask()
        position, velocity = self._plant.step(self._setpoint, dt)
        self._measured, self._measured_v = self._faults.apply(position, velocity, self._now_s)
        if mask is not None and self._states.state is not State.FAULT:
            self._fail(tracking_text(self.name, mask))

    def _tracking_mask(self) -> list[bool] | None:
        error = [s - m for s, m in zip(self._setpoint, self._measured, strict=True)]
        if not any(error):
            return None
        return tracking_mask(self._to_actuators(error), self._data.tolerance)
