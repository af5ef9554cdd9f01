"""A jaw beside an arm that answers in the test itself, with an echo that may take its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from campaign import Track

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import Finding, MotionLimits
from dvrk_kinematics.driver.jaw import JawPlayer, JawSettings
from dvrk_kinematics.driver.port import JawReading
from dvrk_kinematics.kinematics.limits import JointLimits

JAW = load_arm("PSM", instrument="400006").jaw
assert JAW is not None
LIMITS = MotionLimits(
    JointLimits(["jaw"], [JAW.lower], [JAW.upper]),
    np.array([JAW.velocity]),
    np.array([JAW.acceleration]),
)
PERIOD_NS = 5_000_000


class JawRig:
    """A jaw at 0, its player and its track.

    Args:
        make_rig: Makes the rig of the arm.
        echo_ns: How long the arm takes to report a setpoint of the jaw.
    """

    def __init__(self, make_rig: Callable[..., Any], echo_ns: int = 0) -> None:
        self.rig = make_rig(jaw=LIMITS)
        self.sent: list[float] = []
        self.setpoint = self.measured = 0.0
        self.follows = self.is_valid = True
        self.velocity: float | None = 0.0
        self.track = Track(np.zeros(1))
        self.accepted: list[object] = []
        self.results: list[Any] = []
        self._echo_ns = echo_ns
        self._echoes: list[tuple[int, float]] = []
        # The port of the guard's arm gets the jaw's setpoints.
        self.rig.arm.servo_jaw, self.rig.arm.read_jaw = self.servo_jaw, self.read_jaw
        self.player = JawPlayer(self.rig.guard, self.rig.arm, LIMITS, JawSettings())

    def servo_jaw(self, position: float) -> None:
        now_ns = self.rig.arm.now_ns
        self.sent.append(position)
        self._echoes.append((now_ns + self._echo_ns, position))
        self.track.add(now_ns, np.array([position]))
        if self.follows:
            self.measured = position

    def read_jaw(self) -> JawReading:
        while self._echoes and self._echoes[0][0] <= self.rig.arm.now_ns:
            self.setpoint = self._echoes.pop(0)[1]
        return JawReading(self.measured if self.is_valid else None, self.velocity, self.setpoint)

    def accept(self, goal_id: object, position: float) -> Finding | None:
        """Ask for an opening."""
        is_idle = self.player.feedback() is None
        refused = self.player.accept(goal_id, position)
        if refused is None:
            self.accepted.append(goal_id)
            if is_idle:
                self.track.begin(self.rig.arm.now_ns)
        return refused

    def tick(self, dt_ns: int = PERIOD_NS) -> None:
        self.rig.tick(dt_ns)
        self.player.tick(self.rig.arm.now_ns)
        self.results += self.player.take_results()

    def ticks(self, count: int) -> None:
        for _ in range(count):
            self.tick()

    def run(self, at_most: int = 1000) -> Any:
        """Tick until the goal has ended; gives its result."""
        for _ in range(at_most):
            if self.results:
                return self.results.pop()
            self.tick()
        raise AssertionError("the goal did not end")

    def check(self) -> None:
        """Every setpoint inside the limits, and no jump of position or velocity."""
        self.track.check(LIMITS)
