"""One simulated arm: the commands, readings and services that PSM and ECM share.

Commands never raise: what is wrong with them comes back as events, as the real arm answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.simulation.faults import Fault
from dvrk_kinematics.simulation.readings import (
    Event,
    ForwardAnswer,
    InverseAnswer,
    JointReading,
    OperatingStateReading,
    PoseReading,
    TwistReading,
    WrenchReading,
)

__all__ = ["SimulatedArm"]


class SimulatedArm:
    """What every arm offers. A command is named as its topic, with / written as _.

    Commands act when they are called; what they move is moved by the next ``step``. Of several
    servo commands between two steps the newest wins. Joint vectors may have any length and any
    content: what the dVRK makes of wrong ones is reproduced, see ``deviations``.

    Attributes:
        name: Name on the graph ("PSM1").
        kind: "PSM" or "ECM".
        joint_names: Names of the joints, as measured_js has them when homed; () before.
    """

    name: str
    kind: str

    @property
    def joint_names(self) -> tuple[str, ...]:
        raise NotImplementedError

    def step(self, now_ns: int) -> None:
        """One control cycle. ``SimulatedSystem.step`` calls it for every arm.

        Args:
            now_ns: A monotonic time (ns).
        """
        raise NotImplementedError

    def take_events(self) -> list[Event]:
        """The events since the last call, in order, repeated as the dVRK repeats them."""
        raise NotImplementedError

    # Commands of every arm.

    def state_command(self, word: str) -> None:
        """Enable, disable, home, unhome, pause or resume; anything else gives a warning."""
        raise NotImplementedError

    def servo_jp(self, position: Sequence[float], velocity: Sequence[float] = ()) -> None:
        """Joint set-point at once; the velocity (feed-forward) is kept until replaced."""
        raise NotImplementedError

    def servo_jr(self, position: Sequence[float]) -> None:
        raise NotImplementedError

    def servo_jf(self, effort: Sequence[float]) -> None:
        """Joint efforts: accepted and reported in setpoint_js, nothing moves."""
        raise NotImplementedError

    def servo_cp(self, T: Array | None) -> None:
        """Pose in the arm's base frame; None for a pose that is none (zero quaternion)."""
        raise NotImplementedError

    def servo_cs(
        self, T: Array | None, twist: Array | None = None, wrench: Array | None = None
    ) -> None:
        """The parts of a CartesianState that are marked valid, None for the others."""
        raise NotImplementedError

    def servo_ci(self) -> None:
        """Cartesian impedance: accepted, nothing moves."""
        raise NotImplementedError

    def body_servo_cf(self, wrench: Sequence[float]) -> None:
        raise NotImplementedError

    def spatial_servo_cf(self, wrench: Sequence[float]) -> None:
        raise NotImplementedError

    def body_set_cf_orientation_absolute(self, absolute: bool) -> None:
        raise NotImplementedError

    def move_jp(self, position: Sequence[float]) -> None:
        raise NotImplementedError

    def move_jr(self, position: Sequence[float]) -> None:
        raise NotImplementedError

    def move_cp(self, T: Array | None) -> None:
        raise NotImplementedError

    def hold(self) -> None:
        raise NotImplementedError

    def free(self) -> None:
        raise NotImplementedError

    def use_gravity_compensation(self, use: bool) -> None:
        raise NotImplementedError

    def trajectory_j_set_ratio(self, ratio: float) -> None:
        raise NotImplementedError

    def trajectory_j_set_ratio_v(self, ratio: float) -> None:
        raise NotImplementedError

    def trajectory_j_set_ratio_a(self, ratio: float) -> None:
        raise NotImplementedError

    def set_base_frame(self, T: Array | None, frame_id: str) -> None:
        raise NotImplementedError

    # Readings: computed when asked for, once a cycle.

    @property
    def operating_state(self) -> OperatingStateReading:
        raise NotImplementedError

    @property
    def measured_js(self) -> JointReading:
        raise NotImplementedError

    @property
    def setpoint_js(self) -> JointReading:
        raise NotImplementedError

    @property
    def gravity_compensation_setpoint_js(self) -> JointReading:
        raise NotImplementedError

    @property
    def measured_cp(self) -> PoseReading:
        raise NotImplementedError

    @property
    def setpoint_cp(self) -> PoseReading:
        raise NotImplementedError

    @property
    def local_measured_cp(self) -> PoseReading:
        raise NotImplementedError

    @property
    def local_setpoint_cp(self) -> PoseReading:
        raise NotImplementedError

    @property
    def measured_cv(self) -> TwistReading:
        raise NotImplementedError

    @property
    def local_measured_cv(self) -> TwistReading:
        raise NotImplementedError

    @property
    def body_measured_cf(self) -> WrenchReading:
        raise NotImplementedError

    @property
    def spatial_measured_cf(self) -> WrenchReading:
        raise NotImplementedError

    @property
    def body_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, along the axes of the tip."""
        raise NotImplementedError

    @property
    def spatial_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, of the point at the base's origin, along its axes."""
        raise NotImplementedError

    # Services.

    def forward_kinematics(self, jp: Sequence[float], local: bool = False) -> ForwardAnswer:
        """The pose of frame len(jp) of the chain, with the base frame unless ``local``."""
        raise NotImplementedError

    def inverse_kinematics(self, T: Array | None, jp: Sequence[float]) -> InverseAnswer:
        """Joint positions for a pose in the arm's *local* frame, seeded with jp."""
        raise NotImplementedError

    # For tests and teaching.

    def inject(self, fault: Fault) -> None:
        """Makes something go wrong.

        Raises:
            InvalidInput: The joint does not exist.
        """
        raise NotImplementedError
