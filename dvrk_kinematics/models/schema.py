"""The records that describe an arm: joints, Denavit-Hartenberg rows, links, loops, instruments.

Lengths in metres, angles in radians, masses in kilograms, inertias in kg m^2.
All arrays are read-only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from dvrk_kinematics.geometry.arrays import Array

__all__ = [
    "ArmModel",
    "ControllerModel",
    "Convention",
    "DhRow",
    "Inertial",
    "InstrumentModel",
    "JointKind",
    "JointModel",
    "LinkModel",
    "LoopPoint",
]


class JointKind(str, Enum):
    """How a joint moves along or about its z axis."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"


class Convention(str, Enum):
    """Which Denavit-Hartenberg matrix a row stands for.

    MODIFIED (Craig): Rot_x(alpha) Trans_x(a) Rot_z(theta) Trans_z(d).
    STANDARD: Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha).
    """

    MODIFIED = "modified"
    STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class JointModel:
    """One joint that a controller commands.

    Attributes:
        name: The controller's name for it, such as "wrist_pitch".
        kind: Revolute (rad) or prismatic (m).
        lower: Smallest position allowed.
        upper: Largest position allowed.
        velocity: Largest speed (rad/s or m/s).
        acceleration: Largest acceleration (rad/s^2 or m/s^2).
        effort: Largest torque or force (N m or N).
        pid_tolerance: Difference of setpoint and measured position (rad or m) at which the arm
            faults; infinite where it does not, or where other numbers decide.
    """

    name: str
    kind: JointKind
    lower: float
    upper: float
    velocity: float
    acceleration: float
    effort: float
    pid_tolerance: float = math.inf


@dataclass(frozen=True, slots=True)
class DhRow:
    """One row of a Denavit-Hartenberg table.

    The joint's position is added to theta if it is revolute and to d if it is prismatic.

    Attributes:
        alpha: Twist about x (rad).
        a: Length along x (m).
        d: Length along z (m), without the joint's position.
        theta: Angle about z (rad), without the joint's position.
        joint: Name of the joint that moves it, None for a fixed row.
        kind: How the row moves; FIXED without a joint.
        controller_theta: theta as the controller stores it (rad); None where that is exact.
    """

    alpha: float
    a: float
    d: float
    theta: float
    joint: str | None
    kind: JointKind
    controller_theta: float | None = None


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass distribution of a link.

    Attributes:
        mass: Mass (kg).
        com: Centre of mass in the link's frame (m), shape (3,).
        inertia: Tensor about the centre of mass, along the link's axes (kg m^2), shape (3, 3).
        source: Where the numbers come from.
    """

    mass: float
    com: Array
    inertia: Array
    source: str


@dataclass(frozen=True, slots=True)
class LinkModel:
    """One link of the tree: T_parent_link = T_pre J(multiplier * joint + offset) T_post.

    J turns about z (revolute), slides along z (prismatic) or is the identity (fixed).

    Attributes:
        name: Name without the arm's prefix, such as "pitch_back_link".
        parent: Name of the parent link, None for the root.
        T_pre: Constant before the joint, shape (4, 4).
        T_post: Constant after the joint, shape (4, 4); identity for modified DH.
        joint: Name of the joint that moves it (also for mimics), None if fixed to its parent.
        kind: How it moves; FIXED without a joint.
        multiplier: 1 for the joint itself, otherwise the factor of a mimic.
        offset: Added to the mimicked position (rad or m).
        frame: Number of the frame in the published table of the linkage, None if it has none.
        inertial: Mass distribution, None where it has none of its own.
    """

    name: str
    parent: str | None
    T_pre: Array
    T_post: Array
    joint: str | None = None
    kind: JointKind = JointKind.FIXED
    multiplier: float = 1.0
    offset: float = 0.0
    frame: int | None = None
    inertial: Inertial | None = None


@dataclass(frozen=True, slots=True)
class LoopPoint:
    """A pivot where a closed loop was cut open to make a tree: one point, fixed in two links.

    Attributes:
        name: Name of the pivot.
        link_a: One link.
        point_a: The pivot in its frame (m), shape (3,).
        link_b: The other link.
        point_b: The pivot in its frame (m), shape (3,).
    """

    name: str
    link_a: str
    point_a: Array
    link_b: str
    point_b: Array


@dataclass(frozen=True, slots=True)
class InstrumentModel:
    """What is mounted on a PSM: shaft, wrist and jaw.

    Attributes:
        name: Full name, such as "LARGE_NEEDLE_DRIVER_400006".
        number: Its part number as text ("400006"), empty if it has none.
        joints: Its joints, roll first, without the jaw.
        chain: Its rows, continuing the arm's table.
        T_tip_offset: From the last row's frame to the controller's tip, shape (4, 4).
        jaw: The jaw, None for an instrument without one.
        jaw_length: From the tip that the controller reports to the end of the jaws (m).
        coupling: Discs to (roll, wrist pitch, wrist yaw, jaw), shape (4, 4); None if unknown.
        links: Shaft, wrist, jaw halves, tip and end of the jaws; the first has no parent yet.
        ik: Key of the closed-form solver that fits its wrist.
        source: Where the numbers come from.
    """

    name: str
    number: str
    joints: tuple[JointModel, ...]
    chain: tuple[DhRow, ...]
    T_tip_offset: Array
    jaw: JointModel | None
    jaw_length: float
    links: tuple[LinkModel, ...]
    coupling: Array | None
    ik: str
    source: str


@dataclass(frozen=True, slots=True)
class ControllerModel:
    """What the controller of a plain serial arm knows besides geometry; one entry per joint.

    Attributes:
        home: Where homing goes (rad, m).
        p_gain: Proportional gain (N m/rad, N/m).
        d_gain: Derivative gain (N m s/rad, N s/m).
    """

    home: tuple[float, ...]
    p_gain: tuple[float, ...]
    d_gain: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ArmModel:
    """An arm, complete with its instrument.

    Attributes:
        name: Model name, such as "PSM".
        kind: Which topics and controller it has: its own name, or "ARM" for a plain serial arm.
        generation: "Classic", "Si", or empty where there is only one.
        convention: Which matrix the rows of the chain stand for.
        joints: The joints of the vector q, in order.
        chain: The serial chain from the base to the last frame; one row may be fixed.
        T_base: From the arm's base frame to frame 0 of the chain, shape (4, 4).
        T_tip_offset: From the last frame of the chain to the tip, shape (4, 4).
        links: The tree of all links, parents before children, mimic links included.
        tip_link: The link of the tree that is the tip.
        loops: Pivots of the closed loops.
        jaw: The jaw, which is not part of q; None for an arm without one.
        instrument: What is mounted, None for an arm that carries none.
        ik: Key of the solver of its inverse kinematics.
        source: Where the numbers come from.
        controller: The controller of a plain serial arm; None for the arms of a dVRK, whose
            controllers need more than a few numbers per joint.
        disc_tolerance: Difference of setpoint and measured position of an instrument's disc (rad)
            at which the arm faults; infinite for an arm without an instrument.
        ideal: The same arm with exact offsets of its joints; None if this is the ideal arm.
        file: The file it was read from, for errors: its own, with the instrument's entry.
    """

    name: str
    kind: str
    generation: str
    convention: Convention
    joints: tuple[JointModel, ...]
    chain: tuple[DhRow, ...]
    T_base: Array
    T_tip_offset: Array
    links: tuple[LinkModel, ...]
    tip_link: str
    loops: tuple[LoopPoint, ...]
    jaw: JointModel | None
    instrument: InstrumentModel | None
    ik: str
    source: str
    controller: ControllerModel | None = None
    disc_tolerance: float = math.inf
    file: str = ""
    ideal: ArmModel | None = None

    @property
    def zero_shift(self) -> tuple[float, ...]:
        """How much larger the ideal arm's joint positions are at the same pose (rad)."""
        ideal = self.chain if self.ideal is None else self.ideal.chain
        pairs = zip(self.chain, ideal, strict=True)
        return tuple(row.theta - exact.theta for row, exact in pairs if row.joint is not None)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of q, in order."""
        return tuple(joint.name for joint in self.joints)
