"""Readings of simulated arms as bytes to publish.

A state message keeps its names and lengths for thousands of cycles and is serialised once; it is
laid out anew only when these change, as when a tool is engaged or the base frame is renamed.
A reading that is not valid is sent with stamp 0, as the dVRK does.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Protocol

from geometry_msgs.msg import PoseStamped, TransformStamped, TwistStamped, WrenchStamped
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.conversions import make_joint_state, to_flat
from dvrk_kinematics.ros.patched import PatchedMessage

__all__ = [
    "JacobianWriter",
    "JointWriter",
    "PoseWriter",
    "TransformWriter",
    "TwistWriter",
    "WrenchWriter",
    "Writer",
    "pose_numbers",
]


class Writer(Protocol):
    """Turns readings of one topic into bytes."""

    def write(self, reading: Any, ns: int) -> bytes:
        """The message of a reading.

        Args:
            reading: The reading.
            ns: Stamp (ns) if the reading is valid.
        """


class _Relaid:
    """A patched message that is laid out anew when its key changes."""

    def __init__(self) -> None:
        self._key: Hashable = object()
        self._message: PatchedMessage | None = None

    def find(self, key: Hashable) -> PatchedMessage | None:
        """The message, if it is still laid out for that key."""
        return self._message if key == self._key else None

    def lay_out(self, key: Hashable, message: Any, *fields: str) -> PatchedMessage:
        """Serialise a message and keep it for a key."""
        self._key, self._message = key, PatchedMessage(message, fields)
        return self._message


class JointWriter:
    """JointState; arrays may be empty."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Any, ns: int) -> bytes:
        """The message of a JointReading."""
        position, velocity, effort = reading.position, reading.velocity, reading.effort
        key = (reading.names, len(position), len(velocity), len(effort))
        message = self._laid.find(key)
        if message is None:
            state = make_joint_state(reading.names, position, velocity, effort)
            message = self._laid.lay_out(key, state, "position", "velocity", "effort")
        message["position"], message["velocity"], message["effort"] = position, velocity, effort
        return message.stamped(ns if reading.is_valid else 0)


class PoseWriter:
    """PoseStamped."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Any, ns: int) -> bytes:
        """The message of a PoseReading."""
        message = self._laid.find(reading.frame_id)
        if message is None:
            stamped = PoseStamped()
            stamped.header.frame_id = reading.frame_id
            message = self._laid.lay_out(reading.frame_id, stamped, "pose")
        message["pose"] = pose_numbers(reading.T)
        return message.stamped(ns if reading.is_valid else 0)


class TwistWriter:
    """TwistStamped."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Any, ns: int) -> bytes:
        """The message of a TwistReading."""
        message = self._laid.find(reading.frame_id)
        if message is None:
            stamped = TwistStamped()
            stamped.header.frame_id = reading.frame_id
            message = self._laid.lay_out(reading.frame_id, stamped, "twist")
        message["twist"] = reading.twist
        return message.stamped(ns if reading.is_valid else 0)


class WrenchWriter:
    """WrenchStamped, whose frame_id the dVRK leaves empty."""

    def __init__(self) -> None:
        self._message = PatchedMessage(WrenchStamped(), ["wrench"])

    def write(self, reading: Any, ns: int) -> bytes:
        """The message of a WrenchReading."""
        self._message["wrench"] = reading.wrench
        return self._message.stamped(ns if reading.is_valid else 0)


class JacobianWriter:
    """Float64MultiArray, rows after each other; the dVRK's odd strides are kept."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Array, ns: int) -> bytes:
        """The message of a Jacobian (6, n)."""
        message = self._laid.find(reading.shape)
        if message is None:
            rows, columns = reading.shape
            array = Float64MultiArray(data=to_flat(reading))
            array.layout.dim = [
                MultiArrayDimension(label="rows", size=rows, stride=1),
                MultiArrayDimension(label="cols", size=columns, stride=rows),
            ]
            message = self._laid.lay_out(reading.shape, array, "data")
        message["data"] = reading
        return message.stamped(ns)


class TransformWriter:
    """A TFMessage of one frame, as each part of the dVRK sends its own."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Any, ns: int) -> bytes:
        """The message of a FrameTransform."""
        key = (reading.parent, reading.child)
        message = self._laid.find(key)
        if message is None:
            stamped = TransformStamped(child_frame_id=reading.child)
            stamped.header.frame_id = reading.parent
            message = self._laid.lay_out(
                key, TFMessage(transforms=[stamped]), "transforms[].transform"
            )
        message["transforms[].transform"] = pose_numbers(reading.T)
        return message.stamped(ns if reading.is_valid else 0)


def pose_numbers(T: Array) -> tuple[float, ...]:
    """Turn a pose (4, 4) into x y z qx qy qz qw.

    For one pose plain floats are 15 times as fast as arrays.
    """
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = T.tolist()
    # Four times the squares of the quaternion's entries; the largest divides with the least error.
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    largest = max(squares)
    if largest == squares[3]:
        q = (h - f, c - g, d - b, largest)
    elif largest == squares[0]:
        q = (largest, b + d, c + g, h - f)
    elif largest == squares[1]:
        q = (b + d, largest, f + h, c - g)
    else:
        q = (c + g, f + h, largest, d - b)
    scale = math.copysign(0.5 / math.sqrt(largest), q[3])
    return (x, y, z, q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale)
