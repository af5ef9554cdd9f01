"""Parameters of the arm bridge."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M
from dvrk_kinematics.ros.common.joint_language import CONTROLLER
from dvrk_kinematics.ros.common.parameters import parameter

__all__ = ["NO_PREFIX", "SIMULATED", "BridgeSettings", "check_prefix", "fill_prefix"]

SIMULATED = "simulated"
NO_PREFIX = "none"
"""Stands for an empty prefix, which users cannot type: ROS ignores an empty ``prefix:=``."""
_FRAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_/.-]*")
_EMPTY = {"prefix": f"{NO_PREFIX} for no prefix", "joint_prefix": "leave it out for none"}
_HARDWARE = (SIMULATED, "dvrk")


def fill_prefix(prefix: str, arm: str) -> str:
    """The prefix of an arm's links, from the user's text."""
    return "" if prefix == NO_PREFIX else prefix.replace("{arm}", arm)


def check_prefix(name: str, text: str) -> None:
    """Refuse a prefix with which no name of a frame or joint can begin.

    Args:
        name: Which parameter it is: ``prefix`` or ``joint_prefix``.
        text: The prefix, with the arm's name filled in; empty for none.

    Raises:
        InvalidInput: No name can begin with it.
    """
    if text and not _FRAME.fullmatch(text):
        raise InvalidInput(
            name,
            f"{text!r} begins no name of a frame or joint: letters, digits, _ - . and /, no / "
            f"first; {_EMPTY[name]}",
        )
    if name == "joint_prefix" and text.startswith(CONTROLLER):
        reason = f"{text!r}: names that begin with {CONTROLLER} count as the controller does"
        raise InvalidInput(name, f"{reason}; choose another")


@dataclass(frozen=True)
class BridgeSettings:
    """What a user can choose about the bridge of one arm."""

    arm: str = parameter(
        "PSM1", "arm to drive, by its name on the graph; SUJ for all setup joints", read_only=True
    )
    hardware: str = parameter(
        SIMULATED,
        "what may be commanded: simulated moves nothing but an arm_simulator, dvrk a real arm",
        choices=_HARDWARE,
        read_only=True,
    )
    bring_up: bool = parameter(
        False,
        "enable and home the arm when it is first heard; for simulated arms only",
        read_only=True,
    )
    model: str = parameter("", "model of the arm; empty for the one of its name", read_only=True)
    instrument: str = parameter(
        "", "instrument, by name or number; empty for the model's usual one", read_only=True
    )
    generation: str = parameter("Classic", "Classic or Si", read_only=True)
    setup_joints: tuple[str, ...] = parameter(
        ("ECM", "PSM1", "PSM2", "PSM3"),
        "with the arm SUJ: the arms whose setup joints are shown",
        read_only=True,
    )
    rate: float = parameter(
        200.0,
        "rate of the control loop",
        unit="Hz",
        minimum=10.0,
        maximum=1000.0,
        read_only=True,
    )

    prefix: str = parameter(
        "{arm}_",
        "prefix of links on tf; {arm} stands for the arm's name, none for no prefix",
        read_only=True,
    )
    joint_prefix: str = parameter(
        "", "prefix of joints in joint_states, goals and jogs", read_only=True
    )
    description: str = parameter(
        "", "URDF or xacro file to publish; empty for the project's own", read_only=True
    )
    description_root: str = parameter(
        "", "link of that URDF that is the arm's base; empty for its root", read_only=True
    )
    description_pose: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        "where that link is in the arm's base: x y z (m), roll pitch yaw (rad)",
        read_only=True,
    )
    description_signs: tuple[str, ...] = parameter(
        ("",), "joints of that URDF that count against the controller", read_only=True
    )
    join: str = parameter(
        "root",
        "how a tree that does not begin at <arm>_base joins the dVRK's: root below <arm>_base, "
        "<arm>_base below description_root, or none",
        choices=("root", "base", "none"),
        read_only=True,
    )
    publish_joint_states: bool = parameter(True, "publish <arm>/joint_states", read_only=True)
    publish_tf: bool = parameter(True, "publish tf and tf_static of all links", read_only=True)
    publish_description: bool = parameter(True, "publish <arm>/robot_description", read_only=True)
    description_waits: bool = parameter(
        False,
        "publish it with the first valid state only: a view of a cart shows no arm before homing",
        read_only=True,
    )
    publish_diagnostics: bool = parameter(True, "publish /diagnostics", read_only=True)
    actuated_only: bool = parameter(
        False, "leave joints that follow others out of joint_states", read_only=True
    )
    tf_rate: float = parameter(
        0.0,
        "most transforms of a link in a second; 0 for one with each state of the arm",
        unit="Hz",
        minimum=0.0,
        maximum=1000.0,
        read_only=True,
    )

    velocity_scale: float = parameter(
        1.0,
        "part of the model's joint velocities that may be used",
        minimum=0.001,
        maximum=1.0,
        at_rest=True,
    )
    acceleration_scale: float = parameter(
        1.0,
        "part of the model's joint accelerations that may be used",
        minimum=0.001,
        maximum=1.0,
        at_rest=True,
    )
    feed_forward: bool = parameter(
        False, "send velocities with setpoints; otherwise zeros are sent", read_only=True
    )
    cannula_depth: float = parameter(
        WRIST_DEPTH_M,
        "least distance of the wrist from the remote centre in Cartesian motion; 0 for no rule",
        unit="m",
        minimum=0.0,
        maximum=0.2,
        read_only=True,
    )
    max_age: float = parameter(
        0.05,
        "oldest state to move with; an older one slows a motion down to rest",
        unit="s",
        minimum=0.005,
        maximum=1.0,
        read_only=True,
    )
    max_gap: float = parameter(
        0.05,
        "longest time between two ticks of a motion; a longer one slows it down to rest",
        unit="s",
        minimum=0.02,
        maximum=1.0,
        read_only=True,
    )
    patience: float = parameter(
        2.0,
        "how long nothing may be in time before a motion that came to rest for it ends",
        unit="s",
        minimum=0.0,
        maximum=3600.0,
        read_only=True,
    )
    ready_time: float = parameter(
        0.1,
        "how long the arm must be ready before a motion begins, or goes on after it was late",
        unit="s",
        minimum=0.0,
        maximum=10.0,
        read_only=True,
    )

    start_tolerance: float = parameter(
        0.01,
        "how far a first point at t = 0 may be from the setpoint; in m for slides a tenth",
        unit="rad",
        minimum=0.0,
        maximum=1.0,
        at_rest=True,
    )
    path_tolerance: float = parameter(
        0.0,
        "default path tolerance of goals; in m for slides a tenth; 0 for none",
        unit="rad",
        minimum=0.0,
        maximum=1.0,
        at_rest=True,
    )
    goal_tolerance: float = parameter(
        0.01,
        "default goal tolerance; in m for slides a tenth; 0 for none",
        unit="rad",
        minimum=0.0,
        maximum=1.0,
        at_rest=True,
    )
    goal_time: float = parameter(
        1.0,
        "how long after its end a goal may be reached; 0 for without end",
        unit="s",
        minimum=0.0,
        maximum=100.0,
        at_rest=True,
    )
    max_points: int = parameter(
        10_000, "most points of a goal", minimum=1, maximum=10_000_000, read_only=True
    )
    jog_timeout: float = parameter(
        0.2,
        "how long a jog goes on without commands",
        unit="s",
        minimum=0.02,
        maximum=2.0,
        at_rest=True,
    )
    frame_age: float = parameter(
        0.5,
        "oldest frame on tf that a jog may refer to",
        unit="s",
        minimum=0.01,
        maximum=10.0,
        at_rest=True,
    )
    state_timeout: float = parameter(
        10.0,
        "how long to wait for enable, disable, pause and resume",
        unit="s",
        minimum=0.1,
        maximum=100.0,
        at_rest=True,
    )
    home_timeout: float = parameter(
        60.0, "how long to wait for homing", unit="s", minimum=0.1, maximum=600.0, at_rest=True
    )

    def check(self) -> None:
        """Refuse invalid values and combinations."""
        if not self.arm or not self.arm.replace("_", "").isalnum():
            raise InvalidInput("arm", f"{self.arm!r} is not the name of an arm, such as PSM1")
        if self.bring_up and self.hardware != SIMULATED:
            reason = "a real arm is brought up by the person beside it, with enable and home"
            raise InvalidInput("bring_up", reason)
        for name, text in (("prefix", self.link_prefix), ("joint_prefix", self.joint_prefix)):
            check_prefix(name, text)
        if self.tf_rate > self.rate:
            raise InvalidInput("tf_rate", f"{self.tf_rate} Hz is above rate, {self.rate} Hz")
        for name in ("description_root", "description_pose", "description_signs"):
            if any(getattr(self, name)) and not self.description:
                raise InvalidInput(name, "is about a description of your own; none given")
        if len(self.description_pose) != 6:
            given = len(self.description_pose)
            raise InvalidInput("description_pose", f"{given} numbers, not x y z roll pitch yaw")

    @property
    def link_prefix(self) -> str:
        """Prefix of links, with the arm's name filled in."""
        return fill_prefix(self.prefix, self.arm)

    @property
    def base_frame(self) -> str:
        """The frame at which the dVRK's own tf tree ends: the arm's base."""
        return f"{self.arm}_base"
