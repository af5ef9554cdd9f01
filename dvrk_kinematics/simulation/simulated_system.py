"""A simulated system: arms, setup joints, power and frames, as in one dVRK process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.load_model import load_model, model_name
from dvrk_kinematics.simulation.arm import SimulatedArm
from dvrk_kinematics.simulation.kinds import (
    CART,
    SIMULATED_POSITIONS,
    SimulatedEcm,
    SimulatedPsm,
    SimulatedSerialArm,
    SimulatedSuj,
)
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.readings import FrameTransform, PoseReading

__all__ = ["SimulatedSystem"]

_KINDS: dict[str, Callable[[ArmSpec, SystemOptions], SimulatedArm]] = {
    "PSM": SimulatedPsm,
    "ECM": SimulatedEcm,
    "ARM": SimulatedSerialArm,
}
"""Classes of arms by the kind that the arm's model names."""
_REFERENCE = "ECM"
"""The arm whose tip is the reference of poses, unless set_reference_arm changes it."""


class SimulatedSystem:
    """The dVRK's process.

    Args:
        specs: The arms.
        options: Options of all arms.

    Attributes:
        arms: The arms by name, in the order given: SimulatedPsm, SimulatedEcm or
            SimulatedSerialArm.
        sujs: Setup joints by the name of the arm they carry; empty without SUJ.

    Raises:
        InvalidInput: A name occurs twice.
        UnknownName: A kind of arm, instrument, endoscope or setup joint does not exist.
    """

    def __init__(self, specs: Sequence[ArmSpec], options: SystemOptions | None = None) -> None:
        options = options or SystemOptions()
        self.arms: dict[str, SimulatedArm] = {}
        self.sujs: dict[str, SimulatedSuj] = {}
        for spec in specs:
            if spec.name in self.arms:
                raise InvalidInput("specs", f"{spec.name} occurs twice")
            self.arms[spec.name] = _make_arm(spec, options)
            if options.with_suj:
                joints = options.suj_joints.get(spec.name) or SIMULATED_POSITIONS.get(spec.name)
                if joints is None:
                    raise UnknownName("setup joints", spec.name, SIMULATED_POSITIONS)
                self.sujs[spec.name] = SimulatedSuj(spec.name, joints, self._command_sujs)
        self._reference = _REFERENCE
        self._tip: tuple[Array, Array, Array] | None = None
        self._bases: dict[str, tuple[Array, Array | None, str, bool]] = {}
        self._broadcast: set[str] = set()
        self._carry()

    def step(self, now_ns: int) -> None:
        """Runs one control cycle of everything.

        Args:
            now_ns: A monotonic time (ns): passed in, never read. A step back counts as zero.
        """
        for arm in self.arms.values():
            arm.step(now_ns)
        for suj in self.sujs.values():
            suj.step()
        if self.sujs:
            self._carry()

    def power_on(self) -> None:
        """system/power_on: enables every arm."""
        self._command_all("enable")

    def power_off(self) -> None:
        """system/power_off: disables every arm."""
        self._command_all("disable")

    def home(self) -> None:
        """system/home: homes every arm."""
        self._command_all("home")

    def _command_all(self, word: str) -> None:
        for arm in self.arms.values():
            arm.state_command(word)
        self._command_sujs(word)

    def _command_sujs(self, word: str) -> None:
        for suj in self.sujs.values():
            suj.obey(word)

    # Base frames.

    def set_reference_arm(self, name: str) -> None:
        """SUJ/set_reference_arm: the arm whose tip all poses refer to; unknown names only warn."""
        if name not in self.sujs:
            for suj in self.sujs.values():
                suj.warn(f'set_reference_arm, there is no arm "{name}"')
            return
        self._reference = name
        self._carry()

    def _carry(self) -> None:
        """Setup joints give every arm its base frame, in the tip of the reference arm."""
        reference = self.arms.get(self._reference)
        carrier = self.sujs.get(self._reference)
        if reference is None or carrier is None:
            for name, suj in self.sujs.items():
                self._base_in(name, suj.T_cart_base, CART, True)
            return
        tip = reference.local_measured_cp
        self._base_in(reference.name, carrier.T_cart_base, CART, True)
        T_tip_cart = self._tip_to_cart(tip.T, carrier.T_cart_base)
        for name, suj in self.sujs.items():
            if name != reference.name:
                self._base_in(name, suj.T_cart_base, reference.name, tip.is_valid, T_tip_cart)

    def _tip_to_cart(self, T_base_tip: Array, T_cart_base: Array) -> Array:
        """The cart in the tip of the reference arm, computed again only if one has moved."""
        if self._tip is not None:
            known_tip, known_base, T_tip_cart = self._tip
            if known_base is T_cart_base and np.array_equal(known_tip, T_base_tip):
                return T_tip_cart
        T_tip_cart = frozen(se3.inverse(T_cart_base @ T_base_tip))
        self._tip = (T_base_tip, T_cart_base, T_tip_cart)
        return T_tip_cart

    def _base_in(
        self,
        name: str,
        T_cart_base: Array,
        frame: str,
        is_valid: bool,
        T_frame_cart: Array | None = None,
    ) -> None:
        """Gives one arm its base, if anything about it has changed."""
        known = self._bases.get(name)
        if (
            known is not None
            and known[0] is T_cart_base
            and known[1] is T_frame_cart
            and known[2:] == (frame, is_valid)
        ):
            return
        self._bases[name] = (T_cart_base, T_frame_cart, frame, is_valid)
        T = T_cart_base if T_frame_cart is None else frozen(T_frame_cart @ T_cart_base)
        self.sujs[name].refer(PoseReading(T, frame, is_valid))
        self.arms[name].carry(T, frame, is_valid)

    # tf.

    def transforms(self) -> list[FrameTransform]:
        """The transforms that the dVRK broadcasts on tf now.

        It always broadcasts base frames from setup joints; it broadcasts the tip of an arm once
        that has been valid. It sends both with stamp 0 while they are not valid.
        """
        frames = []
        for name, suj in self.sujs.items():
            base = suj.measured_cp
            frames.append(FrameTransform(base.frame_id, f"{name}_base", base.T, base.is_valid))
        for name, arm in self.arms.items():
            tip = arm.measured_cp
            if tip.is_valid:
                self._broadcast.add(name)
            if name in self._broadcast:
                frames.append(FrameTransform(tip.frame_id, name, tip.T, tip.is_valid))
        return frames


def _make_arm(spec: ArmSpec, options: SystemOptions) -> SimulatedArm:
    """The arm of a spec, of the class that its model's kind needs."""
    model = load_model(spec.model or model_name(spec.name), generation=spec.generation)
    if model.kind not in _KINDS:
        raise UnknownName("kind of simulated arm", model.kind, _KINDS)
    return _KINDS[model.kind](spec, options)
