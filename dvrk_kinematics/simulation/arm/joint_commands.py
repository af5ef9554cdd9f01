"""Commands in joint space: servo, move, effort, hold, and the ratios of moves."""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.simulation.arm.command_gate import CommandGate
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.motion_controller import Mode, MotionController, Space
from dvrk_kinematics.simulation.control.reporter import Reporter

__all__ = ["JointCommands"]

_FARTHEST = 1e3
"""Relative goals are not clipped to limits; beyond this (rad, m) they mean the same."""


class JointCommands:
    """Joint space commands of every arm.

    Args:
        gate: Accepts or refuses them.
        controller: Carries them out.
        mechanism: Knows which joints they address.
        report: Collects events.
    """

    def __init__(
        self,
        gate: CommandGate,
        controller: MotionController,
        mechanism: Mechanism,
        report: Reporter,
    ) -> None:
        self._gate = gate
        self._controller = controller
        self._mechanism = mechanism
        self._report = report
        # The dVRK's bridge keeps the velocity of the last servo_jp that had one.
        self._message_velocity: list[float] | None = None
        for topic in ("ratio", "ratio_v", "ratio_a"):
            report.event(f"trajectory_j/{topic}", 1.0)

    def _count(self) -> int:
        return len(self._mechanism.published_names)

    # Servo.

    def servo_jp(self, position: Sequence[float], velocity: Sequence[float] = ()) -> None:
        """Sets the joint set-point at once, clipped to limits.

        Args:
            position: Positions (rad, m); more than needed are ignored.
            velocity: Feed-forward (rad/s, m/s), kept for later messages without one.
        """
        if not self._gate.admits("servo_jp"):
            return
        count = self._count()
        joints = self._gate.values("servo_jp", position, count)
        if joints is None:
            return
        if len(velocity) >= count:
            speeds = self._gate.values("servo_jp", velocity, count, finite=True)
            if speeds is None:
                return
            self._message_velocity = speeds
        controller, mechanism = self._controller, self._mechanism
        controller.switch(Space.JOINT, Mode.POSITION)
        controller.goal = mechanism.filled(joints, controller.goal)
        rest = [0.0] * len(controller.goal)
        speeds = self._message_velocity
        if speeds is not None and len(speeds) == count:
            controller.goal_v = mechanism.filled(speeds, rest)
        else:
            controller.goal_v = rest
        controller.goal_is_new = True

    def servo_jr(self, position: Sequence[float]) -> None:
        """Adds to the current goal (rad, m); a feed-forward velocity stays."""
        if not self._gate.admits("servo_jr"):
            return
        step = self._gate.values("servo_jr", position, self._count(), finite=True)
        if step is None:
            return
        controller = self._controller
        controller.switch(Space.JOINT, Mode.POSITION)
        goal = self._stepped(controller.goal, step)
        controller.goal = self._mechanism.limits.clip(goal)
        controller.goal_is_new = True

    def _stepped(self, goal: list[float], step: list[float]) -> list[float]:
        """The sum of a goal and an increment of the published joints."""
        steps = self._mechanism.filled(step, [0.0] * len(goal))
        return [g + s for g, s in zip(goal, steps, strict=True)]

    def servo_jf(self, effort: Sequence[float]) -> None:
        """Joint efforts (N m, N): accepted and reported in setpoint_js, nothing moves."""
        if not self._gate.admits("servo_jf"):
            return
        count = self._count()
        if len(effort) > count:
            # The dVRK drops them, whereas it takes the first of too many positions.
            self._report.warning(f"servo_jf, expected {count} values but received {len(effort)}")
            return
        efforts = self._gate.values("servo_jf", effort, count, finite=True)
        if efforts is not None:
            self._controller.push(Space.JOINT, efforts)

    def hold(self) -> None:
        """Stays at the present set-point, at once."""
        if self._gate.admits("hold"):
            self._controller.switch(Space.JOINT, Mode.POSITION)
            self._controller.stay()

    def free(self) -> None:
        """Sets zero effort, apart from gravity compensation."""
        if self._gate.admits("free"):
            self._controller.push(Space.JOINT, [0.0] * self._count())

    # Move.

    def move_jp(self, position: Sequence[float]) -> None:
        """Joint trajectory to a goal (rad, m), clipped to limits."""
        if not self._gate.admits("move_jp"):
            return
        controller, mechanism = self._controller, self._mechanism
        count = self._count()
        if len(position) < count:
            # The dVRK goes to the goal that it has.
            controller.switch(Space.JOINT, Mode.TRAJECTORY)
            controller.start(list(controller.last_goal))
            return
        joints = self._gate.values("move_jp", position, count)
        if joints is None:
            return
        controller.switch(Space.JOINT, Mode.TRAJECTORY)
        controller.start(mechanism.limits.clip(mechanism.filled(joints, controller.pending())))

    def move_jr(self, position: Sequence[float]) -> None:
        """Joint trajectory by an increment (rad, m) on the goal; clipped only on its way."""
        if not self._gate.admits("move_jr"):
            return
        step = self._gate.values("move_jr", position, self._count(), finite=True)
        if step is None:
            return
        controller = self._controller
        controller.switch(Space.JOINT, Mode.TRAJECTORY)
        goal = self._stepped(controller.pending(), step)
        controller.start([max(-_FARTHEST, min(_FARTHEST, g)) for g in goal])

    # Ratios.

    def set_ratio(self, ratio: float) -> None:
        """Sets speed and acceleration of moves as a fraction of their limits, in ]0, 1]."""
        if self._is_ratio("trajectory_j_set_ratio", ratio):
            for topic in ("ratio", "ratio_v", "ratio_a"):
                self._report.event(f"trajectory_j/{topic}", ratio)
            self._controller.set_ratios(ratio, ratio)

    def set_ratio_v(self, ratio: float) -> None:
        """Sets the speed of moves as a fraction of its limit, in ]0, 1]."""
        if self._is_ratio("trajectory_j_set_ratio_v", ratio):
            self._report.event("trajectory_j/ratio_v", ratio)
            self._controller.set_ratios(ratio, self._controller.ratio_a)
            self._tell_ratio()

    def set_ratio_a(self, ratio: float) -> None:
        """Sets the acceleration of moves as a fraction of its limit, in ]0, 1]."""
        if self._is_ratio("trajectory_j_set_ratio_a", ratio):
            self._report.event("trajectory_j/ratio_a", ratio)
            self._controller.set_ratios(self._controller.ratio_v, ratio)
            self._tell_ratio()

    def _is_ratio(self, command: str, ratio: float) -> bool:
        if 0.0 < ratio <= 1.0:
            return True
        self._report.warning(f"{command}, ratio must be within ]0;1], received {ratio:g}")
        return False

    def _tell_ratio(self) -> None:
        controller = self._controller
        both = controller.ratio_v if controller.ratio_v == controller.ratio_a else 0.0
        self._report.event("trajectory_j/ratio", both)
