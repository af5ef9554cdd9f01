"""Readings become messages: the same numbers, frames and names, and stamp 0 if not valid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.floats import pose_numbers
from dvrk_kinematics.ros.common.conversions import matrices_to_cp
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.simulator import state_writers as state
from dvrk_kinematics.ros.simulator.command_queue import pose_or_none
from dvrk_kinematics.ros.simulator.stamps import DatumStamps, EventStamps, random_of
from dvrk_kinematics.simulation import (
    ClockReadings,
    FrameTransform,
    JointReading,
    PoseReading,
    TwistReading,
    WrenchReading,
)

NOW = 1_700_000_000_123_456_789
NONE = np.empty(0)


def pose(*quaternion: float) -> Any:
    T = np.eye(4)
    T[:3, :3] = so3.from_quaternion(np.array(quaternion) / np.linalg.norm(quaternion))
    T[:3, 3] = 1.0, 2.0, 3.0
    return T


@given(st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3))
def test_one_pose_is_written_as_many_are(quaternion: tuple[float, ...]) -> None:
    T = pose(*quaternion)
    one, many = np.array(pose_numbers(T.tolist())), matrices_to_cp(T)
    sign = np.sign(one[3:] @ many[3:])
    np.testing.assert_allclose(one[:3], many[:3])
    np.testing.assert_allclose(one[3:], sign * many[3:], atol=1e-12)


def test_joints_are_laid_out_anew_when_their_number_changes() -> None:
    writer = state.JointWriter()
    for names in ((), ("a", "b"), ("a", "b", "c"), ("a", "b", "d"), ()):
        position = np.arange(1.0, len(names) + 1)
        reading = JointReading(names, position, NONE, -position, True)
        message = deserialize_message(writer.write(reading, NOW), JointState)
        assert tuple(message.name) == names and list(message.position) == list(position)
        assert not message.velocity and list(message.effort) == list(-position)
        assert stamp_to_ns(message.header.stamp) == NOW and message.header.frame_id == ""


@pytest.mark.parametrize("is_valid", [True, False])
def test_a_reading_that_is_not_valid_has_stamp_0_and_its_content(is_valid: bool) -> None:
    six = np.arange(6.0)
    expected = NOW if is_valid else 0
    joints = JointReading(("a",), np.ones(1), NONE, NONE, is_valid)
    written = [
        (state.JointWriter(), joints, JointState),
        (state.PoseWriter(), PoseReading(pose(0, 0, 0, 1), "x", is_valid), PoseStamped),
        (state.TwistWriter(), TwistReading(six, "x", is_valid), TwistStamped),
        (state.WrenchWriter(), WrenchReading(six, "x", is_valid), WrenchStamped),
    ]
    for writer, reading, kind in written:
        message = deserialize_message(writer.write(reading, NOW), kind)
        assert stamp_to_ns(message.header.stamp) == expected
        assert message.header.frame_id == ("" if kind is JointState else "x")
    assert message.wrench.torque.z == 5.0


def test_frames_may_be_renamed() -> None:
    writer = state.PoseWriter()
    for frame in ("PSM1_base", "ECM", ""):
        data = writer.write(PoseReading(pose(0, 0, 0, 1), frame, True), NOW)
        message = deserialize_message(data, PoseStamped)
        assert message.header.frame_id == frame and message.pose.position.z == 3.0
    transform = FrameTransform("ECM", "PSM1_base", pose(1, 0, 0, 0), True)
    tf = deserialize_message(state.TransformWriter().write(transform, NOW), TFMessage)
    assert tf.transforms[0].child_frame_id == "PSM1_base"
    assert tf.transforms[0].transform.rotation.x == 1.0


def test_jacobians_have_the_strides_of_the_dvrk() -> None:
    writer = state.JacobianWriter()
    for columns in (4, 6):
        J = np.arange(6.0 * columns).reshape(6, columns)
        message = deserialize_message(writer.write(J, NOW), Float64MultiArray)
        assert list(message.data) == list(range(6 * columns))
        assert [(d.size, d.stride) for d in message.layout.dim] == [(6, 1), (columns, 6)]


def test_quaternions_are_normalised_if_that_can_be_done() -> None:
    message = PoseStamped().pose
    message.orientation.w = 2.0
    message.position.x = float("nan")
    T = pose_or_none(message)
    assert T is not None and T[2, 2] == 1.0 and np.isnan(T[0, 3])
    for bad in (0.0, float("nan"), float("inf")):
        message.orientation.w = bad
        assert pose_or_none(message) is None


def test_stamps_of_events_increase_even_if_the_clock_does_not() -> None:
    times = iter([5, 5, 4, 9])
    stamps = EventStamps(lambda: next(times))
    assert [stamps.next() for _ in range(4)] == [5, 6, 7, 9]


def test_one_datum_has_a_stamp_of_its_own_in_each_message() -> None:
    stamps = DatumStamps(lambda: NOW, ClockReadings(random_of(1, "test")), lambda: 5_000_000)
    stamps.begin(datum_ns=3_000_000)
    read = np.array([stamps.next() for _ in range(200)])
    early = NOW - 2_000_000 - read
    assert 0 <= early.min() < early.max() <= 15_000
    assert (np.diff(read) < 0).any() and (np.diff(read) > 0).any()


def test_no_state_has_the_stamp_that_means_invalid() -> None:
    stamps = DatumStamps(lambda: 0, ClockReadings(random_of(1, "test")), lambda: 5_000_000)
    stamps.begin(datum_ns=3_000_000)
    assert stamps.next() == 1
