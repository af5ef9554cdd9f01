"""Converts readings of simulated arms to bytes for publishing.

A state message keeps its names and lengths for thousands of cycles and is serialised once. It is
laid out anew only when these change, such as when a tool is engaged or the base frame is renamed.
An invalid reading is sent with stamp 0, as the dVRK does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol

from geometry_msgs.msg import PoseStamped, TransformStamped, TwistStamped, WrenchStamped
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.geometry.floats import pose_numbers
from dvrk_kinematics.ros.common.conversions import make_joint_state, to_flat
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage

__all__ = [
    "JacobianWriter",
    "JointWriter",
    "PoseWriter",
    "TransformWriter",
    "TwistWriter",
    "WrenchWriter",
    "Writer",
]


class Writer(Protocol):
    """Turns readings of one topic into bytes."""

    def write(self, reading: Any, ns: int) -> bytes:
        """Write the message for a reading.

        Args:
            reading: The reading.
            ns: Stamp (ns) if the reading is valid.
        """


class _Relaid:
    """A patched message and the positions of its numbers, laid out anew when its key changes."""

    def __init__(self) -> None:
        self.key: Hashable = object()
        self.message: PatchedMessage
        self.views: tuple[Array, ...]

    def lay_out(self, key: Hashable, message: Any, *fields: str) -> None:
        """Serialise a message and keep it for a key."""
        self.message = PatchedMessage(message, fields)
        self.views = tuple(self.message.view(field) for field in fields)
        self.key = key


class JointWriter:
    """JointState; arrays may be empty."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Any, ns: int) -> bytes:
        """Write the message for a JointReading."""
        laid = self._laid
        names, position, velocity, effort, is_valid = reading
        key = (names, len(position), len(velocity), len(effort))
        if laid.key != key:
            state = make_joint_state(names, position, velocity, effort)
            laid.lay_out(key, state, "position", "velocity", "effort")
        views = laid.views
        views[0][:] = position
        views[1][:] = velocity
        views[2][:] = effort
        return laid.message.stamped(ns if is_valid else 0)


class _StampedWriter:
    """A message of numbers in a frame."""

    def __init__(self, message: Callable[[], Any], field: str) -> None:
        self._make = message
        self._field = field
        self._laid = _Relaid()

    def write_numbers(
        self, numbers: Array | tuple[float, ...], frame_id: str, is_valid: bool, ns: int
    ) -> bytes:
        """Write the message for some numbers; stamp 0 if they are invalid."""
        laid = self._laid
        if laid.key != frame_id:
            stamped = self._make()
            stamped.header.frame_id = frame_id
            laid.lay_out(frame_id, stamped, self._field)
        laid.views[0][:] = numbers
        return laid.message.stamped(ns if is_valid else 0)


class PoseWriter(_StampedWriter):
    """PoseStamped."""

    def __init__(self) -> None:
        super().__init__(PoseStamped, "pose")

    def write(self, reading: Any, ns: int) -> bytes:
        """Write the message for a PoseReading."""
        T, frame_id, is_valid = reading
        return self.write_numbers(pose_numbers(T.tolist()), frame_id, is_valid, ns)


class TwistWriter(_StampedWriter):
    """TwistStamped."""

    def __init__(self) -> None:
        super().__init__(TwistStamped, "twist")

    def write(self, reading: Any, ns: int) -> bytes:
        """Write the message for a TwistReading."""
        twist, frame_id, is_valid = reading
        return self.write_numbers(twist, frame_id, is_valid, ns)


class WrenchWriter(_StampedWriter):
    """WrenchStamped."""

    def __init__(self) -> None:
        super().__init__(WrenchStamped, "wrench")

    def write(self, reading: Any, ns: int) -> bytes:
        """Write the message for a WrenchReading."""
        wrench, frame_id, is_valid = reading
        return self.write_numbers(wrench, frame_id, is_valid, ns)


class JacobianWriter:
    """Float64MultiArray, row by row; the dVRK's odd strides are kept."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Array, ns: int) -> bytes:
        """Write the message for a Jacobian (6, n)."""
        laid = self._laid
        if laid.key != reading.shape:
            rows, columns = reading.shape
            array = Float64MultiArray(data=to_flat(reading))
            array.layout.dim = [
                MultiArrayDimension(label="rows", size=rows, stride=1),
                MultiArrayDimension(label="cols", size=columns, stride=rows),
            ]
            laid.lay_out(reading.shape, array, "data")
        laid.views[0][:] = reading.reshape(-1)
        return laid.message.stamped(ns)


class TransformWriter:
    """A TFMessage of one frame, as each part of the dVRK sends its own."""

    def __init__(self) -> None:
        self._laid = _Relaid()

    def write(self, reading: Any, ns: int) -> bytes:
        """Write the message for a FrameTransform."""
        laid = self._laid
        parent, child, T, is_valid = reading
        if laid.key != (parent, child):
            stamped = TransformStamped(child_frame_id=child)
            stamped.header.frame_id = parent
            message = TFMessage(transforms=[stamped])
            laid.lay_out((parent, child), message, "transforms[].transform")
        laid.views[0][:] = pose_numbers(T.tolist())
        return laid.message.stamped(ns if is_valid else 0)
