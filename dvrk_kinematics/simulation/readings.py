"""The output of a simulated arm: readings, events, frames and the answers of its services.

They are tuples, because every cycle makes them. Their arrays are read-only.
"""

from __future__ import annotations

from typing import NamedTuple

from dvrk_kinematics.geometry.arrays import Array

__all__ = [
    "Event",
    "EventValue",
    "ForwardAnswer",
    "FrameTransform",
    "InverseAnswer",
    "JointReading",
    "OperatingStateReading",
    "PoseReading",
    "TwistReading",
    "WrenchReading",
]


class JointReading(NamedTuple):
    """Joints, as in a JointState.

    Attributes:
        names: Names; empty before the joints are known.
        position: Positions (rad, m), shape (n,); empty where the dVRK leaves it empty.
        velocity: Velocities (rad/s, m/s), shape (n,) or empty.
        effort: Efforts (N m, N), shape (n,) or empty.
        is_valid: Whether to believe it; the dVRK sends invalid readings with stamp 0.
    """

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array
    is_valid: bool


class PoseReading(NamedTuple):
    """A pose, as in a PoseStamped.

    Attributes:
        T: The pose in ``frame_id``, shape (4, 4).
        frame_id: The frame it is given in; may be empty (set_base_frame).
        is_valid: Whether to believe it; invalid ones go out with stamp 0 and their last content.
    """

    T: Array
    frame_id: str
    is_valid: bool


class TwistReading(NamedTuple):
    """A velocity of the tip, as in a TwistStamped.

    Attributes:
        twist: Linear (m/s) before angular (rad/s), shape (6,).
        frame_id: The frame that the dVRK names, which need not be the one whose axes it uses.
        is_valid: Whether to believe it.
    """

    twist: Array
    frame_id: str
    is_valid: bool


class WrenchReading(NamedTuple):
    """A wrench at the tip, as in a WrenchStamped.

    Attributes:
        wrench: Force (N) before torque (N m), shape (6,).
        frame_id: Always empty, as the dVRK sends it.
        is_valid: Whether to believe it.
    """

    wrench: Array
    frame_id: str
    is_valid: bool


class OperatingStateReading(NamedTuple):
    """The operating state, as in crtk_msgs/OperatingState.

    Attributes:
        state: DISABLED, ENABLED, PAUSED or FAULT.
        is_homed: See the state machine: it stays true when an arm is disabled.
        is_busy: Whether it is in a transition or a move.
    """

    state: str
    is_homed: bool
    is_busy: bool


EventValue = str | bool | float | None | OperatingStateReading


class Event(NamedTuple):
    """One message of an event topic.

    Attributes:
        topic: Name relative to the arm: "operating_state", "desired_state", "goal_reached",
            "error", "warning", "status", "tool_type", "tool_type_request" (value None),
            "endoscope_type", "trajectory_j/ratio", "trajectory_j/ratio_v", "trajectory_j/ratio_a".
        value: Content of the message.
    """

    topic: str
    value: EventValue


class FrameTransform(NamedTuple):
    """One frame as the dVRK broadcasts it on tf.

    Attributes:
        parent: Name of the parent frame.
        child: Name of the frame.
        T: Pose of child in parent, shape (4, 4).
        is_valid: If False, it is sent with stamp 0, as the dVRK does for base frames of setup
            joints.
    """

    parent: str
    child: str
    T: Array
    is_valid: bool


class ForwardAnswer(NamedTuple):
    """The answer of forward_kinematics. Only ``result`` is reliable, as with the dVRK.

    Attributes:
        T: The pose, shape (4, 4); after a failure that of the previous answer.
        result: Whether it was computed.
        message: The last failure's text, even after a success.
    """

    T: Array
    result: bool
    message: str


class InverseAnswer(NamedTuple):
    """The answer of inverse_kinematics. Only ``result`` is reliable, as with the dVRK.

    Attributes:
        jp: Joint positions (rad, m), shape (n,), not clipped to limits.
        result: Whether they were computed.
        message: The last failure's text, even after a success.
    """

    jp: Array
    result: bool
    message: str
