"""Commands in joint space: servo, move, effort, hold, and the ratios of moves."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan

from dvrk_kinematics.simulation.arm_control import Mode, Space
from dvrk_kinematics.simulation.arm_velocities import ArmVelocities
from dvrk_kinematics.simulation.operating_state import State, SubState
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions

__all__ = ["JointCommands"]

_TAKES_COMMANDS = frozenset(
    {
        SubState.ENABLED,
        SubState.CALIBRATING_ENCODERS_FROM_POTS,
        SubState.ENCODERS_BIASED,
        SubState.HOMING,
        SubState.HOMED,
        SubState.ENGAGING_ADAPTER,
        SubState.ENGAGING_TOOL,
        SubState.TOOL_ENGAGED,
    }
)
"""Where motion is accepted, if joints are known. Homing is among them: a command then replaces the
homing goal. So is the moment before, when is_homed and not is_busy are already true: there clients
that wait for both send their first command. And so is ENABLED, after an arm was enabled again and
is not homed yet: servo commands have no effect there, and a move is busy until homing ends."""

_FARTHEST = 1e3
"""Relative goals are not clipped to limits; beyond this (rad, m) they mean the same."""


class JointCommands(ArmVelocities):
    """Joint space commands of every arm."""

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        super().__init__(spec, options, kind)
        # The dVRK's bridge keeps the velocity of the last servo_jp that had one.
        self._message_velocity: list[float] | None = None

    # Reading commands.

    def _is_ready(self, command: str, cartesian: bool = False) -> bool:
        """Whether motion is accepted; if not, a warning says so now and then."""
        ready = self._is_cartesian_ready if cartesian else self._is_joint_ready
        states = self._states
        if ready and states.state is State.ENABLED and states.sub_state in _TAKES_COMMANDS:
            self._report.accepted()
            return True
        self._report.refuse(command, self._now_s)
        return False

    def _values(
        self, command: str, values: Sequence[float], count: int, finite: bool = False
    ) -> list[float] | None:
        """The first ``count`` numbers of a command; None, with a warning, if they are no use."""
        if len(values) < count:
            self._report.warning(f"{command}, expected {count} values but received {len(values)}")
            return None
        numbers = [float(value) for value in values[:count]]
        if not all(map(isfinite, numbers)) if finite else any(map(isnan, numbers)):
            self._report.warning(f"{command}, received values that are not numbers")
            return None
        return numbers

    def _driven(self, joints: list[float], rest: Sequence[float]) -> list[float]:
        """Driven joints for published ones; those that are not among them come from ``rest``."""
        return [*joints, *rest[len(joints) :]]

    def _count(self) -> int:
        return len(self._names_now())

    # Servo.

    def servo_jp(self, position: Sequence[float], velocity: Sequence[float] = ()) -> None:
        """Joint set-point at once, clipped to limits.

        Args:
            position: Positions (rad, m); more than needed are ignored.
            velocity: Feed-forward (rad/s, m/s), kept for later messages without one.
        """
        if not self._is_ready("servo_jp"):
            return
        count = self._count()
        joints = self._values("servo_jp", position, count)
        if joints is None:
            return
        if len(velocity) >= count:
            speeds = self._values("servo_jp", velocity, count, finite=True)
            if speeds is None:
                return
            self._message_velocity = speeds
        self._switch(Space.JOINT, Mode.POSITION)
        self._goal = self._driven(joints, self._goal)
        speeds = self._message_velocity
        if speeds is not None and len(speeds) == count:
            self._goal_v = self._driven(speeds, [0.0] * len(self._goal))
        else:
            self._goal_v = [0.0] * len(self._goal)
        self._goal_is_new = True

    def servo_jr(self, position: Sequence[float]) -> None:
        """Adds to the current goal (rad, m); a feed-forward velocity stays."""
        if not self._is_ready("servo_jr"):
            return
        step = self._values("servo_jr", position, self._count(), finite=True)
        if step is None:
            return
        self._switch(Space.JOINT, Mode.POSITION)
        steps = self._driven(step, [0.0] * len(self._goal))
        self._goal = self._clip([goal + s for goal, s in zip(self._goal, steps, strict=True)])
        self._goal_is_new = True

    def servo_jf(self, effort: Sequence[float]) -> None:
        """Joint efforts (N m, N): accepted and told in setpoint_js, nothing moves."""
        if not self._is_ready("servo_jf"):
            return
        count = self._count()
        if len(effort) > count:
            # The dVRK drops them, where it takes the first of too many positions.
            self._report.warning(f"servo_jf, expected {count} values but received {len(effort)}")
            return
        efforts = self._values("servo_jf", effort, count, finite=True)
        if efforts is not None:
            self._push(Space.JOINT, efforts)

    def _push(self, space: Space, effort: list[float]) -> bool:
        """Goes to effort mode; False if the arm must not now."""
        if not self._switch(space, Mode.EFFORT):
            return False
        self._commanded_effort = self._driven(effort, [0.0] * len(self._setpoint))
        self._feed_gravity(True)
        return True

    def _feed_gravity(self, on: bool) -> None:
        self._gravity_is_on = on and self._data.gravity is not None

    def _serve(self, goal: Sequence[float], velocity: Sequence[float]) -> None:
        super()._serve(goal, velocity)
        self._feed_gravity(True)

    def hold(self) -> None:
        """Stays at the present set-point, at once."""
        if not self._is_ready("hold"):
            return
        self._switch(Space.JOINT, Mode.POSITION)
        self._goal = list(self._setpoint)
        self._goal_v = [0.0] * len(self._goal)
        self._goal_is_new = True

    def free(self) -> None:
        """Zero effort, besides gravity compensation."""
        if self._is_ready("free"):
            self._push(Space.JOINT, [0.0] * self._count())

    # Move.

    def move_jp(self, position: Sequence[float]) -> None:
        """Joint trajectory to a goal (rad, m), clipped to limits."""
        if not self._is_ready("move_jp"):
            return
        count = self._count()
        if len(position) < count:
            # The dVRK goes to the goal that it has.
            self._switch(Space.JOINT, Mode.TRAJECTORY)
            self._start(list(self._last_goal))
            return
        joints = self._values("move_jp", position, count)
        if joints is None:
            return
        self._switch(Space.JOINT, Mode.TRAJECTORY)
        self._start(self._clip(self._driven(joints, self._pending())))

    def move_jr(self, position: Sequence[float]) -> None:
        """Joint trajectory by an increment (rad, m) on the goal; clipped only on its way."""
        if not self._is_ready("move_jr"):
            return
        step = self._values("move_jr", position, self._count(), finite=True)
        if step is None:
            return
        self._switch(Space.JOINT, Mode.TRAJECTORY)
        pending = self._pending()
        steps = self._driven(step, [0.0] * len(pending))
        goal = [p + s for p, s in zip(pending, steps, strict=True)]
        self._start([max(-_FARTHEST, min(_FARTHEST, g)) for g in goal])

    def _pending(self) -> list[float]:
        """The goal of the move in flight, or where the set-points are."""
        return list(self._setpoint if self._move is None else self._move.goal)

    def _start(self, goal: list[float]) -> None:
        self._plan(goal)
        self._move_is_told = True
        self._move_waits = self._states.sub_state is SubState.ENABLED
        self._feed_gravity(True)
        self._states.set_busy(True)

    # Ratios.

    def trajectory_j_set_ratio(self, ratio: float) -> None:
        """Speed and acceleration of moves as a part of their limits, in ]0, 1]."""
        if self._is_ratio("trajectory_j_set_ratio", ratio):
            self._ratio_v = self._ratio_a = ratio
            for topic in ("ratio", "ratio_v", "ratio_a"):
                self._report.event(f"trajectory_j/{topic}", ratio)
            self._replan()

    def trajectory_j_set_ratio_v(self, ratio: float) -> None:
        """Speed of moves as a part of its limit, in ]0, 1]."""
        if self._is_ratio("trajectory_j_set_ratio_v", ratio):
            self._ratio_v = ratio
            self._report.event("trajectory_j/ratio_v", ratio)
            self._tell_ratio()
            self._replan()

    def trajectory_j_set_ratio_a(self, ratio: float) -> None:
        """Acceleration of moves as a part of its limit, in ]0, 1]."""
        if self._is_ratio("trajectory_j_set_ratio_a", ratio):
            self._ratio_a = ratio
            self._report.event("trajectory_j/ratio_a", ratio)
            self._tell_ratio()
            self._replan()

    def _is_ratio(self, command: str, ratio: float) -> bool:
        if 0.0 < ratio <= 1.0:
            return True
        self._report.warning(f"{command}, ratio must be within ]0;1], received {ratio:g}")
        return False

    def _tell_ratio(self) -> None:
        both = self._ratio_v if self._ratio_v == self._ratio_a else 0.0
        self._report.event("trajectory_j/ratio", both)

    def _replan(self) -> None:
        """A move in flight goes on with the new limits at once."""
        if self._move is not None:
            self._plan(self._move.goal)
