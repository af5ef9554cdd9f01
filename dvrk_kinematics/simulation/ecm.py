"""A simulated ECM: an arm that carries an endoscope."""

from __future__ import annotations

from dvrk_kinematics.simulation.arm import SimulatedArm

__all__ = ["SimulatedEcm"]


class SimulatedEcm(SimulatedArm):
    """An ECM; commands beyond those of every arm."""

    def set_endoscope_type(self, text: str) -> None:
        raise NotImplementedError
