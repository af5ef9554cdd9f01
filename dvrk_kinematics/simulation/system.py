"""A simulated system: arms, setup joints, power and frames, as one dVRK process has them."""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.simulation.arm import SimulatedArm
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.readings import FrameTransform
from dvrk_kinematics.simulation.suj import SimulatedSuj

__all__ = ["SimulatedSystem"]


class SimulatedSystem:
    """The dVRK's process.

    Args:
        specs: The arms.
        options: What holds for all.

    Attributes:
        arms: The arms by name, in the order given: SimulatedPsm or SimulatedEcm.
        sujs: Setup joints by the name of the arm they carry; empty without SUJ.

    Raises:
        InvalidInput: Names that occur twice, or an arm that cannot be simulated.
        UnknownName: An instrument or endoscope that does not exist.
    """

    arms: dict[str, SimulatedArm]
    sujs: dict[str, SimulatedSuj]

    def __init__(self, specs: Sequence[ArmSpec], options: SystemOptions | None = None) -> None:
        raise NotImplementedError

    def step(self, now_ns: int) -> None:
        """One control cycle of everything.

        Args:
            now_ns: A monotonic time (ns): passed in, never read. It must not go back.
        """
        raise NotImplementedError

    def power_on(self) -> None:
        """system/power_on: enables every arm."""
        raise NotImplementedError

    def power_off(self) -> None:
        """system/power_off: disables every arm."""
        raise NotImplementedError

    def home(self) -> None:
        """system/home: homes every arm."""
        raise NotImplementedError

    def set_reference_arm(self, name: str) -> None:
        """SUJ/set_reference_arm: whose tip all poses are given in; unknown names do nothing."""
        raise NotImplementedError

    def transforms(self) -> list[FrameTransform]:
        """What the dVRK broadcasts on tf now."""
        raise NotImplementedError
