"""The inside of a simulated arm: power, operating state, control modes, and the control cycle."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from dvrk_kinematics.simulation.controller import CONTROLLERS
from dvrk_kinematics.simulation.faults import FaultInjector
from dvrk_kinematics.simulation.operating_state import OperatingStateMachine, State, SubState
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.pid import tracking_mask, tracking_text
from dvrk_kinematics.simulation.plant import KinematicPlant, Plant
from dvrk_kinematics.simulation.readings import Event
from dvrk_kinematics.simulation.reporter import Reporter
from dvrk_kinematics.simulation.trajectory import JointTrajectory

__all__ = ["ArmCore", "Mode", "Space"]

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


_STATES: dict[SubState, tuple[State, bool]] = {
    SubState.DISABLED: (State.DISABLED, False),
    SubState.POWERING: (State.DISABLED, True),
    SubState.ENABLED: (State.ENABLED, False),
    SubState.CALIBRATING_ENCODERS_FROM_POTS: (State.ENABLED, True),
    SubState.ENCODERS_BIASED: (State.ENABLED, False),
    SubState.HOMING: (State.ENABLED, True),
    SubState.HOMED: (State.ENABLED, False),
    SubState.ENGAGING_ADAPTER: (State.ENABLED, True),
    SubState.ENGAGING_TOOL: (State.ENABLED, True),
    SubState.TOOL_ENGAGED: (State.ENABLED, False),
    SubState.PAUSED: (State.PAUSED, False),
    SubState.FAULT: (State.FAULT, False),
}
"""What is published in each sub-state: the state, and whether it is busy."""


_WATCHED = frozenset(_STATES) - {
    SubState.DISABLED,
    SubState.POWERING,
    SubState.ENABLED,
    SubState.CALIBRATING_ENCODERS_FROM_POTS,
    SubState.ENCODERS_BIASED,
    SubState.FAULT,
}
"""Where the PID watches tracking errors: from homing on."""


class ArmCore:
    """State and control cycle that all arms share. Joint vectors here are the driven joints.

    Args:
        spec: Which arm.
        options: What holds for the whole system.
        kind: "PSM" or "ECM".
    """

    _lower: tuple[float, ...]
    _upper: tuple[float, ...]
    _v_max: tuple[float, ...]
    _a_max: tuple[float, ...]

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        self.name = spec.name
        self.kind = kind
        self._data = CONTROLLERS[kind]
        self._options = options
        self._report = Reporter(spec.name)
        self._states = OperatingStateMachine(self._report)
        for topic in ("trajectory_j/ratio", "trajectory_j/ratio_v", "trajectory_j/ratio_a"):
            self._report.event(topic, 1.0)
        self._now_s = 0.0
        self._is_running = False
        self._powering_until_s = 0.0
        self._powered = False
        self._biased = False
        self._resume = (SubState.DISABLED, SubState.DISABLED)
        self._plant: Plant = spec.plant or KinematicPlant()
        self._faults = FaultInjector()
        count = len(self._data.home)
        self._setpoint = [0.0] * count
        self._setpoint_v = [0.0] * count
        self._measured = [0.0] * count
        self._measured_v = [0.0] * count
        self._plant.reset(self._setpoint)
        self._space, self._mode = Space.UNDEFINED, Mode.UNDEFINED
        self._goal = [0.0] * count
        self._goal_v = [0.0] * count
        self._goal_is_new = False
        self._move: JointTrajectory | None = None
        self._move_is_told = False
        self._move_start_s = 0.0
        self._move_at: tuple[list[float], list[float]] = ([0.0] * count, [0.0] * count)
        self._ratio_v = self._ratio_a = 1.0
        self._limits_of_joints()

    # What kinds of arms differ in.

    def _limits_of_joints(self) -> None:
        """Sets _lower, _upper, _v_max and _a_max of the driven joints."""
        raise NotImplementedError

    def _to_actuators(self, joints: Sequence[float]) -> Sequence[float]:
        """Joints to actuators, whose errors the PID watches."""
        return joints

    def _transition_homed(self) -> None:
        """What happens by itself in HOMED and the states that lead back to it."""

    def _on_homed(self) -> None:
        """What entering HOMED does besides."""

    def _solve_pose(self) -> None:
        """Turns a new pose goal into joint goals."""
        raise NotImplementedError

    def _freeze(self) -> None:
        """Keeps what readings say from now on, because joints are not known any more."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Drops what was computed from joint positions that have changed."""
        raise NotImplementedError

    # Power, operating state.

    @property
    def _is_joint_ready(self) -> bool:
        return self._powered and self._biased

    def take_events(self) -> list[Event]:
        """The events since the last call, in order, repeated as the dVRK repeats them."""
        return self._report.take()

    def state_command(self, word: str) -> None:
        """Enable, disable, home, unhome, pause or resume; anything else gives a warning."""
        if not self._states.accepts(word):
            return
        if word == "enable":
            self._states.set_desired(SubState.ENABLED)
        elif word == "home":
            self._states.set_desired(SubState.HOMED)
        elif word == "disable":
            self._states.set_desired(SubState.DISABLED)
            self._enter(SubState.DISABLED)
        elif word == "pause":
            self._resume = (self._states.sub_state, self._states.desired)
            self._states.set_desired(SubState.PAUSED)
            self._enter(SubState.PAUSED)
        elif word == "resume":
            sub_state, self._states.desired = self._resume
            self._enter(sub_state)
        else:
            self._set_power(self._powered, biased=False)
            self._states.set_homed(False)

    def _set_power(self, powered: bool, biased: bool) -> None:
        if self._is_joint_ready and not (powered and biased):
            self._freeze()
        self._powered, self._biased = powered, biased
        self._forget()

    def _enter(self, sub_state: SubState) -> None:
        if self._states.sub_state is SubState.HOMED:
            self._switch(Space.UNDEFINED, Mode.UNDEFINED)
        state, is_busy = _STATES[sub_state]
        self._states.enter(sub_state, state, is_busy, self._is_joint_ready)
        if sub_state is SubState.DISABLED:
            self._set_power(False, self._biased)
            self._switch(Space.UNDEFINED, Mode.UNDEFINED)
        elif sub_state is SubState.POWERING:
            self._powering_until_s = self._now_s + self._options.powering_s
            # The PID begins where the joints are.
            count = len(self._setpoint)
            reset = self._options.reset_joints_on_enable
            self._place([0.0] * count if reset else self._faults.truth(self._measured))
        elif sub_state is SubState.ENABLED:
            self._set_power(True, self._biased)
        elif sub_state is SubState.CALIBRATING_ENCODERS_FROM_POTS:
            self._report.status("simulated mode, no need to calibrate encoders")
            self._faults.clear_offsets()
        elif sub_state is SubState.HOMING:
            self._switch(Space.JOINT, Mode.TRAJECTORY)
            self._move_at = (list(self._setpoint), [0.0] * len(self._setpoint))
            self._plan(list(self._data.home))
        elif sub_state is SubState.HOMED:
            self._switch(Space.UNDEFINED, Mode.UNDEFINED)
            self._on_homed()
        self._states.entered()

    def _transition(self) -> None:
        """At most one transition a cycle, as the dVRK goes through them."""
        sub_state, desired = self._states.sub_state, self._states.desired
        if sub_state is SubState.HOMED:
            self._transition_homed()
        elif sub_state is SubState.DISABLED:
            if desired is not SubState.DISABLED:
                self._enter(SubState.POWERING)
        elif sub_state is SubState.POWERING:
            if self._now_s >= self._powering_until_s:
                self._enter(SubState.ENABLED)
        elif sub_state is SubState.ENABLED:
            if desired is not SubState.ENABLED:
                self._enter(SubState.CALIBRATING_ENCODERS_FROM_POTS)
        elif sub_state is SubState.CALIBRATING_ENCODERS_FROM_POTS:
            self._set_power(self._powered, biased=True)
            self._enter(SubState.ENCODERS_BIASED)
        elif sub_state is SubState.ENCODERS_BIASED:
            self._enter(SubState.HOMING)
        elif sub_state not in (SubState.HOMING, SubState.PAUSED, SubState.FAULT):
            self._transition_homed()

    def _fail(self, error: str) -> None:
        """Goes to FAULT with an error text."""
        self._report.error(error)
        self._states.set_desired(SubState.FAULT)
        self._enter(SubState.FAULT)

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

    def _may_go_cartesian(self) -> bool:
        """Whether the cannula is passed; the first of thousand refusals warns."""
        raise NotImplementedError

    def _plan(self, goal: list[float]) -> None:
        position, speed = self._move_at
        v = [self._ratio_v * limit for limit in self._v_max]
        a = [self._ratio_a * limit for limit in self._a_max]
        self._move = JointTrajectory(position, speed, goal, v, a)
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

    def _place(self, joints: list[float]) -> None:
        """Puts the joints somewhere at rest."""
        self._setpoint, self._measured = list(joints), list(joints)
        self._setpoint_v = [0.0] * len(joints)
        self._measured_v = [0.0] * len(joints)
        self._move_at = (list(joints), [0.0] * len(joints))
        self._goal, self._goal_v = list(joints), [0.0] * len(joints)
        self._goal_is_new = False
        self._plant.reset(joints)
        self._forget()

    # The cycle.

    def step(self, now_ns: int) -> None:
        """One control cycle. ``SimulatedSystem.step`` calls it for every arm.

        Args:
            now_ns: A monotonic time (ns).
        """
        now = now_ns * 1e-9
        before = min(self._now_s, now) if self._is_running else now
        self._is_running = True
        self._now_s = before
        self._transition()
        moving = self._move is not None
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
