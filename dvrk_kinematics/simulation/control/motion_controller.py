"""The motion controller of an arm: control space and mode, goals, and moves."""

from __future__ import annotations

from enum import Enum

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.simulation.control.controller_data import ControllerData
from dvrk_kinematics.simulation.control.joint_servo import JointServo
from dvrk_kinematics.simulation.control.joint_trajectory import JointTrajectory
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.operating_state import OperatingStateMachine, SubState
from dvrk_kinematics.simulation.control.reporter import Reporter
from dvrk_kinematics.simulation.control.tip_kinematics import TipKinematics

__all__ = ["Mode", "MotionController", "Space"]


class Space(str, Enum):
    """The space that is controlled."""

    UNDEFINED = "UNDEFINED_SPACE"
    JOINT = "JOINT_SPACE"
    CARTESIAN = "CARTESIAN_SPACE"


class Mode(str, Enum):
    """The mode of control."""

    UNDEFINED = "UNDEFINED_MODE"
    POSITION = "POSITION_MODE"
    TRAJECTORY = "TRAJECTORY_MODE"
    EFFORT = "EFFORT_MODE"


_SLOWEST = 1e-12
"""Least speed and acceleration of a move (SI): a ratio may be any number above 0, even one whose
product with a limit is not."""

_REFUSALS_PER_WARNING = 1000
"""The dVRK warns about the cannula once in this many refusals."""


class MotionController:
    """Goals and moves of an arm. Joint vectors here are the driven joints.

    Args:
        mechanism: Limits, and the meaning of the joints.
        servo: Takes the set-points.
        tip: Solves poses.
        machine: The operating state, which determines whether set-points move and reports whether
            the arm is busy.
        data: Where homing goes.
        report: Collects events.

    Attributes:
        now_s: The time of the present cycle (s), set by the caller that advances time.
        space: What is controlled.
        mode: How it is controlled.
        move: The move in flight; None if there is none.
        last_goal: Where the last move went.
        ratio_v: Fraction of their largest speeds that moves use.
        ratio_a: Fraction of their accelerations that moves use.
        goal: Goal of position mode; changed in place or replaced, then ``goal_is_new`` is set.
        goal_v: Its feed-forward velocity.
        pose_goal: Goal of position mode in Cartesian space, shape (4, 4); None before the first.
        pose_rates: Its feed-forward velocity, in joints of the chain.
        goal_is_new: Whether the next cycle acts on the goal.
        commanded_effort: Last command of effort mode; None before the first.
        gravity_is_on: Whether efforts hold the arm against gravity too.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        servo: JointServo,
        tip: TipKinematics,
        machine: OperatingStateMachine,
        data: ControllerData,
        report: Reporter,
    ) -> None:
        self._mechanism = mechanism
        self._servo = servo
        self._tip = tip
        self._machine = machine
        self._data = data
        self._report = report
        self.now_s = 0.0
        self.space, self.mode = Space.UNDEFINED, Mode.UNDEFINED
        self.move: JointTrajectory | None = None
        self._move_is_told = False
        self._move_waits = False
        self._move_start_s = 0.0
        self._rest()
        self.last_goal = list(data.home)
        self.ratio_v = self.ratio_a = 1.0
        self.goal = list(servo.setpoint)
        self.goal_v = [0.0] * len(servo.setpoint)
        self.pose_goal: Array | None = None
        self.pose_rates: Array = np.zeros(6)
        self.goal_is_new = False
        self.commanded_effort: list[float] | None = None
        self.gravity_is_on = False
        self._cannula_refusals = 0

    # Actions of states.

    def place(self, joints: list[float]) -> None:
        """Puts the joints somewhere at rest."""
        self._servo.place(joints)
        self.goal, self.goal_v, self.goal_is_new = list(joints), [0.0] * len(joints), False
        self._rest()

    def _rest(self) -> None:
        """The next move starts at rest where the set-points are."""
        self._move_at = (list(self._servo.setpoint), [0.0] * len(self._servo.setpoint))

    def end_control(self) -> None:
        """Stops controlling; a move ends."""
        self.switch(Space.UNDEFINED, Mode.UNDEFINED)

    def begin_homing(self) -> None:
        """Sets off for the home position."""
        goal = list(self._data.home)
        if self.move is not None and self._move_is_told and not self._move_waits:
            # A client was quicker than homing: its goal replaces that of homing.
            goal = self.move.goal
        self._move_waits = False
        self.goal_is_new = False
        self.switch(Space.JOINT, Mode.TRAJECTORY)
        self._rest()
        self._plan(goal)

    # What is controlled.

    def switch(self, space: Space, mode: Mode) -> bool:
        """Changes what is controlled and how; False if the arm must not be controlled so now."""
        if space is self.space and mode is self.mode:
            return True
        if space is Space.CARTESIAN and space is not self.space and not self._may_go_cartesian():
            return False
        self.space = space
        if mode is not self.mode:
            if self.mode is Mode.TRAJECTORY and self.move is not None:
                self.end_move(False)
            self._begin(mode)
            self.mode = mode
        self._report.status(f"control {space.value}/{mode.value}")
        return True

    def _may_go_cartesian(self) -> bool:
        """Whether the tip is past the cannula; the first of a thousand refusals warns."""
        if self._mechanism.is_past_cannula(self._servo.measured):
            self._cannula_refusals = 0
            return True
        if self._cannula_refusals == 0:
            self._report.warning(
                "tool/endoscope needs to be inserted past the cannula to switch to cartesian space"
            )
        self._cannula_refusals = (self._cannula_refusals + 1) % _REFUSALS_PER_WARNING
        return False

    def _begin(self, mode: Mode) -> None:
        """Goals begin where the set-points are."""
        servo = self._servo
        if mode is Mode.POSITION:
            self.stay()
            self.goal_is_new = False
        elif mode is Mode.TRAJECTORY:
            speed = [0.0] * len(servo.setpoint)
            if self.mode is Mode.POSITION:
                # A stream turns into a move with its speed, as far as the speed limit allows.
                pairs = zip(servo.measured_v, self._mechanism.limits.velocity, strict=True)
                speed = [max(-v, min(v, speed_now)) for speed_now, v in pairs]
            self._move_at = (list(servo.setpoint), speed)

    # Goals and moves.

    def stay(self) -> None:
        """Makes the present set-point the goal of position mode."""
        self.goal = list(self._servo.setpoint)
        self.goal_v = [0.0] * len(self.goal)
        self.goal_is_new = True

    def push(self, space: Space, effort: list[float]) -> bool:
        """Goes to effort mode; False if the arm must not now.

        Args:
            space: What is controlled.
            effort: Efforts of the published joints (N m, N).
        """
        if not self.switch(space, Mode.EFFORT):
            return False
        self.commanded_effort = self._mechanism.filled(effort, [0.0] * len(self._servo.setpoint))
        self._feed_gravity(True)
        return True

    def _feed_gravity(self, on: bool) -> None:
        self.gravity_is_on = on and self._data.gravity is not None

    def pending(self) -> list[float]:
        """The goal of the move in flight, or where the set-points are."""
        return list(self._servo.setpoint if self.move is None else self.move.goal)

    def start(self, goal: list[float]) -> None:
        """Starts a move that a client requested, in trajectory mode."""
        self._plan(goal)
        self._move_is_told = True
        self._move_waits = self._machine.sub_state is SubState.ENABLED
        self._feed_gravity(True)
        self._machine.set_busy(True)

    def fail_move(self) -> None:
        """Ends a move that cannot be started, or the one in flight in its place."""
        self._move_is_told = True
        self.end_move(False)

    def set_ratios(self, ratio_v: float, ratio_a: float) -> None:
        """Sets the fraction of their limits that moves use; one in flight changes at once."""
        self.ratio_v, self.ratio_a = ratio_v, ratio_a
        if self.move is not None:
            self._plan(self.move.goal)

    def _plan(self, goal: list[float]) -> None:
        position, speed = self._move_at
        limits = self._mechanism.limits
        v = [max(self.ratio_v * limit, _SLOWEST) for limit in limits.velocity]
        a = [max(self.ratio_a * limit, _SLOWEST) for limit in limits.acceleration]
        self.move = JointTrajectory(position, speed, goal, v, a)
        self.last_goal = list(goal)
        self._move_start_s = self.now_s

    def end_move(self, reached: bool) -> None:
        """Ends a move; the end of the homing move is not reported."""
        self.move = None
        self._rest()
        if self._move_is_told:
            self._move_is_told = False
            self._report.event("goal_reached", reached)
            self._machine.set_busy(False)

    # The cycle.

    def run_homed(self) -> None:
        """One cycle in HOMED: follows a move, or acts on a new goal."""
        if self.mode is Mode.TRAJECTORY:
            if self.move is not None and self._run_move(self.move):
                self.end_move(True)
        elif self.mode is Mode.POSITION and self.goal_is_new:
            self.goal_is_new = False
            if self.space is Space.CARTESIAN:
                self._solve_pose()
            else:
                self._serve(self.goal, self.goal_v)

    def run_homing(self) -> bool:
        """One cycle in HOMING.

        Returns:
            Whether homing is over.
        """
        if self.goal_is_new and self.space is Space.JOINT:
            # A servo command replaces the present place of homing.
            self.goal_is_new = False
            self._serve(self.goal, [0.0] * len(self.goal))
            self._rest()
            self._plan(list(self._data.home))
            return False
        if self.move is None:
            self._plan(list(self._data.home))
        if self.move is None or not self._run_move(self.move):
            return False
        if not self._move_is_told:
            self.move = None
        return True

    def _run_move(self, move: JointTrajectory) -> bool:
        elapsed = self.now_s - self._move_start_s
        self._move_at = move.at(elapsed)
        self._serve(*self._move_at)
        return elapsed >= move.duration

    def _serve(self, goal: list[float], velocity: list[float]) -> None:
        self._servo.tell(goal, velocity)
        self._feed_gravity(True)

    def _solve_pose(self) -> None:
        """Turns a new pose goal into joint goals."""
        self._feed_gravity(False)
        if self.pose_goal is None:
            return
        q = self._tip.inverse(self.pose_goal)
        if q is not None:
            mechanism = self._mechanism
            goal = mechanism.filled(mechanism.driven(q.tolist()), self.goal)
            rates = mechanism.driven(self.pose_rates.tolist())
            self._servo.tell(goal, mechanism.filled(rates, [0.0] * len(goal)))
            self.goal = list(self._servo.setpoint)
