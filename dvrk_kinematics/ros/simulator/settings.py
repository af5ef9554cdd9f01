"""Parameters of the arm simulator."""

from __future__ import annotations

from dataclasses import dataclass

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.common.arm_roster import ARMS
from dvrk_kinematics.ros.common.parameters import parameter
from dvrk_kinematics.simulation import driven_joints

__all__ = ["SimulatorSettings"]


@dataclass(frozen=True)
class SimulatorSettings:
    """A user's settings for the simulated arms."""

    arms: tuple[str, ...] = parameter(
        ("PSM1",), "arms in this process", choices=ARMS, read_only=True
    )
    setup_joints: bool = parameter(
        False, "whether the arms stand on setup joints of a patient cart", read_only=True
    )
    instrument: str = parameter(
        "LARGE_NEEDLE_DRIVER_400006", "instrument of every PSM, by name or number", read_only=True
    )
    endoscope: str = parameter("Classic_SD_STRAIGHT", "endoscope of the ECM", read_only=True)
    tool_detection: str = parameter(
        "FIXED",
        "FIXED: the instrument is known; MANUAL: a client names it by set_tool_type",
        choices=("FIXED", "MANUAL"),
        read_only=True,
    )
    rate: float = parameter(
        200.0,
        "rate of the control cycle and of the state topics",
        unit="Hz",
        minimum=10.0,
        maximum=1000.0,
        read_only=True,
    )
    setup_joint_rate: float = parameter(
        20.0,
        "rate of the setup joints' state topics, at most rate",
        unit="Hz",
        minimum=1.0,
        maximum=1000.0,
        read_only=True,
    )
    tf_rate: float = parameter(
        50.0, "rate of tf, at most rate", unit="Hz", minimum=1.0, maximum=1000.0, read_only=True
    )
    servo_lag: float = parameter(
        0.0,
        "time constant with which the arms follow their goals; 0 follows exactly",
        unit="s",
        minimum=0.0,
        maximum=1.0,
        read_only=True,
    )
    reset_joints_on_enable: bool = parameter(
        False,
        "whether enable sets all joints to 0, as the dVRK's own simulation does",
        read_only=True,
    )
    stalls: float = parameter(
        2.0,
        "how often the arms' thread stalls, so that one datum is published twice or more; "
        "0 for never",
        unit="1/s",
        minimum=0.0,
        maximum=20.0,
        read_only=True,
    )
    seed: int = parameter(
        1,
        "of all that is random: stalls, stamps, late_publisher",
        minimum=0,
        maximum=2**31 - 1,
        read_only=True,
    )
    faults: bool = parameter(
        False, "whether services that inject faults are offered", read_only=True
    )
    fault_joint: str = parameter(
        "",
        "joint that the faults stalled_joint and encoder_jump are about; empty for an arm's first",
    )
    fault_jump: float = parameter(
        0.1,
        "size of the fault encoder_jump, at most the whole range of fault_joint",
        unit="rad or m",
        minimum=-10.0,
        maximum=10.0,
    )
    fault_delay: float = parameter(
        0.1, "delay of the fault delayed_state", unit="s", minimum=0.0, maximum=10.0
    )

    fault_gaps: float = parameter(
        5.3,
        "how often the fault late_publisher sends nothing for more than 10 ms",
        unit="1/s",
        minimum=0.1,
        maximum=50.0,
    )
    fault_longest_gap: float = parameter(
        0.12, "longest gap of the fault late_publisher", unit="s", minimum=0.01, maximum=10.0
    )

    def check(self) -> None:
        """Refuse inconsistent settings."""
        if len(set(self.arms)) != len(self.arms):
            raise InvalidInput("arms", f"{list(self.arms)} names an arm twice")
        if not self.arms:
            raise InvalidInput("arms", f"none given; choose from {', '.join(ARMS)}")
        for name in ("setup_joint_rate", "tf_rate"):
            if getattr(self, name) > self.rate:
                raise InvalidInput(name, f"{getattr(self, name)} Hz is above rate, {self.rate} Hz")
        self._check_fault()

    def _check_fault(self) -> None:
        """Refuse a joint that no arm has, and an absurdly large jump."""
        widths: dict[str, float] = {}
        for name in self.arms:
            for joint, width in driven_joints(name).items():
                widths[joint] = max(widths.get(joint, 0.0), width)
        joint = self.fault_joint or next(iter(widths))
        if joint not in widths:
            raise InvalidInput(
                "fault_joint",
                f"{joint!r} is not a joint of {', '.join(self.arms)}: {', '.join(widths)}",
            )
        if abs(self.fault_jump) > widths[joint]:
            raise InvalidInput(
                "fault_jump",
                f"{self.fault_jump} is more than the whole range of {joint}, {widths[joint]:g}",
            )
