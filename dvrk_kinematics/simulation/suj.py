"""Simulated setup joints: what carries an arm and gives it its base frame."""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.simulation.readings import (
    Event,
    JointReading,
    OperatingStateReading,
    PoseReading,
)

__all__ = ["SimulatedSuj"]


class SimulatedSuj:
    """The setup joints of one arm.

    Attributes:
        name: Name of the arm it carries ("PSM1"); its topics are under ``SUJ/<name>``.
        joint_names: SUJ_PSM1_J0 to SUJ_PSM1_J5, six also for the ECM.
    """

    name: str
    joint_names: tuple[str, ...]

    def take_events(self) -> list[Event]:
        """Events since the last call: operating_state, error, warning, status."""
        raise NotImplementedError

    def state_command(self, word: str) -> None:
        """As of an arm, but it acts on the setup joints of all arms."""
        raise NotImplementedError

    def servo_jp(self, position: Sequence[float]) -> None:
        raise NotImplementedError

    def move_jp(self, position: Sequence[float]) -> None:
        raise NotImplementedError

    @property
    def operating_state(self) -> OperatingStateReading:
        raise NotImplementedError

    @property
    def measured_js(self) -> JointReading:
        """Six positions, no velocity and effort."""
        raise NotImplementedError

    @property
    def measured_cp(self) -> PoseReading:
        """The arm's base in the tip of the reference arm (the ECM)."""
        raise NotImplementedError

    @property
    def local_measured_cp(self) -> PoseReading:
        """The arm's base in the frame ``Cart``."""
        raise NotImplementedError
