"""The PID loops of an arm, as far as a simulation shows them, and the mechanics they drive."""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.simulation.control.controller_data import ControllerData
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.faults import FaultInjector
from dvrk_kinematics.simulation.plants import Plant

__all__ = ["JointServo", "tracking_text"]


class JointServo:
    """Set-points of the driven joints, and where the mechanics have followed them to.

    Args:
        plant: The mechanics.
        mechanism: Turns joints into actuators, whose errors the PID watches.
        data: Gains and tolerances.
        memo: Forgets results computed for other joints.

    Attributes:
        setpoint: Set-points of the PID (rad, m).
        setpoint_v: Velocities of the set-points (rad/s, m/s).
        measured: Measured positions of the joints.
        measured_v: Measured velocities of the joints.
        faults: Injected faults of the measurement.
    """

    def __init__(
        self, plant: Plant, mechanism: Mechanism, data: ControllerData, memo: Memo
    ) -> None:
        self._plant = plant
        self._mechanism = mechanism
        self._data = data
        self._memo = memo
        self.faults = FaultInjector()
        self.setpoint: list[float] = []
        self.setpoint_v: list[float] = []
        self.measured: list[float] = []
        self.measured_v: list[float] = []
        self.place([0.0] * len(data.home))

    def place(self, joints: list[float]) -> None:
        """Puts the joints somewhere at rest."""
        rest = [0.0] * len(joints)
        self.setpoint, self.setpoint_v = list(joints), list(rest)
        self.measured, self.measured_v = list(joints), list(rest)
        self._plant.reset(joints)
        self._memo.forget()

    def tell(self, goal: Sequence[float], velocity: Sequence[float]) -> None:
        """Sets the PID's set-point, kept inside the limits."""
        self.setpoint = self._mechanism.limits.clip(goal)
        self.setpoint_v = list(velocity)

    def follow(self, dt: float, now_s: float) -> None:
        """Lets the joints follow for dt seconds, until now_s."""
        position, velocity = self._plant.step(self.setpoint, dt)
        self.measured, self.measured_v = self.faults.apply(position, velocity, now_s)

    def tracking_mask(self) -> list[bool] | None:
        """Which actuators are farther from their set-points than allowed; None if none are."""
        error = [s - m for s, m in zip(self.setpoint, self.measured, strict=True)]
        if not any(error):
            return None
        actuators = self._mechanism.to_actuators(error)
        mask = [abs(e) > limit for e, limit in zip(actuators, self._data.tolerance, strict=True)]
        return mask if any(mask) else None

    def effort(self) -> list[float]:
        """The PID's output: efforts of the driven joints (N m, N)."""
        error = [s - m for s, m in zip(self.setpoint, self.measured, strict=True)]
        rate = [s - m for s, m in zip(self.setpoint_v, self.measured_v, strict=True)]
        if not any(error) and not any(rate):
            return [0.0] * len(error)
        mechanism, data = self._mechanism, self._data
        errors = mechanism.to_actuators(error)
        rates = mechanism.to_actuators(rate)
        return mechanism.from_actuator_effort(
            [
                p * e + d * r
                for e, r, p, d in zip(errors, rates, data.p_gain, data.d_gain, strict=True)
            ]
        )


def tracking_text(arm: str, mask: Sequence[bool]) -> str:
    """The arm's message when its PID reports a tracking error."""
    columns = "".join(f"{int(bit):>13}" for bit in mask)
    return f"received [{arm}_PID: tracking error, mask (1 for error):{columns}]"
