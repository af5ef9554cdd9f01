"""Messages as bytes: patched and read as if they had been ordinary messages."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crtk_msgs.msg import CartesianState, OperatingState
from geometry_msgs.msg import PoseStamped, TransformStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from dvrk_kinematics.errors import InvalidInput, LayoutError
from dvrk_kinematics.ros.common.conversions import make_joint_state
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage, RawReader

STAMP_NS = 1_700_000_000_123_456_789
JOINTS = ["yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw", "jaw"]


def joint_state(names: list[str] = JOINTS, *, effort: bool = False) -> JointState:
    zeros = np.zeros(len(names))
    message = make_joint_state(names, zeros, zeros, zeros if effort else None)
    message.header.frame_id = "PSM1"
    return message


def transforms(count: int) -> TFMessage:
    message = TFMessage()
    for number in range(count):
        # Names of every length, so that every padding occurs.
        stamped = TransformStamped(child_frame_id="link_" + "x" * number)
        stamped.header.frame_id = "PSM1_base"[: number % 9 + 1]
        message.transforms.append(stamped)
    return message


def test_patched_joint_state_arrives_whole() -> None:
    patched = PatchedMessage(joint_state(), ["position", "velocity"])
    rng = np.random.default_rng(1)
    for _ in range(100):
        position, velocity = rng.normal(size=(2, 7))
        patched["position"], patched["velocity"] = position, velocity
        arrived = deserialize_message(patched.stamped(STAMP_NS), JointState)
        assert list(arrived.position) == position.tolist()
        assert list(arrived.velocity) == velocity.tolist()
        assert (arrived.header.frame_id, arrived.name) == ("PSM1", JOINTS)
        assert (arrived.header.stamp.sec, arrived.header.stamp.nanosec) == divmod(STAMP_NS, 10**9)


@pytest.mark.parametrize("lengths", list(itertools.product((0, 3), repeat=3)))
@pytest.mark.parametrize("frame", ["", "a", "abcde", "PSM1_base"])
def test_every_padding_and_every_empty_array_is_laid_out_right(
    lengths: tuple[int, int, int], frame: str
) -> None:
    message = JointState(name=["roll", "jaw", "insertion"])
    message.header.frame_id = frame
    message.position, message.velocity, message.effort = ([0.5] * n for n in lengths)
    fields = ["position", "velocity", "effort"]
    patched = PatchedMessage(message, fields)
    for shift, (field, length) in enumerate(zip(fields, lengths, strict=True)):
        patched[field] = np.arange(length) + 10.0 * shift
    data = patched.stamped(STAMP_NS)
    read = RawReader(JointState, fields).read(data)
    arrived = deserialize_message(data, JointState)
    for shift, (field, length) in enumerate(zip(fields, lengths, strict=True)):
        wanted = [10.0 * shift + place for place in range(length)]
        assert list(getattr(arrived, field)) == read[field].tolist() == wanted


@pytest.mark.parametrize("count", [1, 2, 20])
def test_patched_transforms_arrive_whole(count: int) -> None:
    patched = PatchedMessage(transforms(count), ["transforms[].transform"])
    values = np.random.default_rng(2).normal(size=(count, 7))
    patched["transforms[].transform"] = values
    arrived = deserialize_message(patched.stamped(STAMP_NS), TFMessage)
    for row, stamped in zip(values, arrived.transforms, strict=True):
        p, q = stamped.transform.translation, stamped.transform.rotation
        assert [p.x, p.y, p.z, q.x, q.y, q.z, q.w] == row.tolist()
        assert (stamped.header.stamp.sec, stamped.header.stamp.nanosec) == divmod(STAMP_NS, 10**9)
    assert [s.child_frame_id for s in arrived.transforms] == [
        s.child_frame_id for s in transforms(count).transforms
    ]


def test_nothing_lies_behind_the_last_field() -> None:
    """serialize_message reserves 8 bytes more here, which strict readers of bags refuse."""
    patched = PatchedMessage(JointState(), [])
    # Header, stamp, empty frame with its padding, and the lengths of four empty arrays.
    assert len(patched.stamped(STAMP_NS)) == 4 + 8 + 4 + 1 + 3 + 4 * 4


def test_patched_pose_keeps_its_frame() -> None:
    message = PoseStamped()
    message.header.frame_id = "PSM1_base"
    patched = PatchedMessage(message, ["pose"])
    patched["pose"] = np.arange(7.0)
    arrived = deserialize_message(patched.stamped(STAMP_NS), PoseStamped)
    assert arrived.header.frame_id == "PSM1_base"
    assert (arrived.pose.position.z, arrived.pose.orientation.w) == (2.0, 6.0)
    np.testing.assert_array_equal(patched["pose"], np.arange(7.0))


@pytest.mark.parametrize("values", [[0.1], 0.1, np.zeros(6), np.zeros((2, 7))])
def test_a_wrong_number_of_values_is_refused_and_changes_nothing(values: Any) -> None:
    patched = PatchedMessage(joint_state(), ["position"])
    patched["position"] = np.arange(7.0)
    with pytest.raises(InvalidInput, match="the message holds 7"):
        patched["position"] = values
    np.testing.assert_array_equal(patched["position"], np.arange(7.0))


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (OperatingState(), "state"),
        (OperatingState(), "is_homed"),
        (JointTrajectoryPoint(), "time_from_start"),
    ],
)
def test_a_field_that_is_not_all_doubles_is_refused(message: Any, field: str) -> None:
    with pytest.raises(LayoutError, match="float64 only"):
        PatchedMessage(message, [field])


def test_reader_learns_once_and_reads_numbers_and_stamp() -> None:
    reader = RawReader(JointState, ["position", "velocity", "effort"])
    rng = np.random.default_rng(3)
    for turn in range(50):
        message = joint_state()
        message.header.stamp.sec = turn
        message.position, message.velocity = rng.normal(size=(2, 7)).tolist()
        read = reader.read(serialize_message(message))
        assert read["position"].tolist() == list(message.position)
        assert read["velocity"].tolist() == list(message.velocity)
        assert read["effort"].size == 0
        assert read.stamp_ns == turn * 10**9
        assert read.template.name == JOINTS
    assert reader.learnt == 1


def test_reader_notices_other_names_of_the_same_length() -> None:
    reader = RawReader(JointState, ["position"])
    reader.read(serialize_message(joint_state(["roll", "jaw", "yaw"])))
    read = reader.read(serialize_message(joint_state(["roll", "yaw", "jaw"])))
    assert read.template.name == ["roll", "yaw", "jaw"]
    assert reader.learnt == 2


def test_reader_notices_more_joints_and_other_fields() -> None:
    reader = RawReader(JointState, ["position", "effort"])
    assert reader.read(serialize_message(joint_state(JOINTS[:6])))["position"].size == 6
    assert reader.read(serialize_message(joint_state()))["position"].size == 7
    assert reader.read(serialize_message(joint_state(effort=True)))["effort"].size == 7
    assert reader.read(serialize_message(joint_state(JOINTS[:6])))["position"].size == 6
    assert reader.learnt == 3


def test_reader_never_serves_a_stale_flag() -> None:
    reader = RawReader(CartesianState, ["pose", "twist"])
    message = CartesianState()
    for valid in (True, False, True):
        message.pose_is_valid.data = valid
        assert reader.read(serialize_message(message)).template.pose_is_valid.data is valid


def test_not_a_number_survives_the_bytes() -> None:
    message = joint_state()
    message.position = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.0]
    read = RawReader(JointState, ["position"]).read(serialize_message(message))
    np.testing.assert_array_equal(read["position"], message.position)


def test_patched_bytes_cross_dds_to_a_raw_and_an_ordinary_reader(
    spinning: Callable[..., Node],
) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    wanted = 500
    reader = RawReader(JointState, ["position"])
    raw: list[float] = []
    ordinary: list[float] = []
    both = threading.Event()

    def note(numbers: list[float], value: float) -> None:
        numbers.append(value)
        if len(raw) == len(ordinary) == wanted:
            both.set()

    deep = QoSProfile(depth=wanted)
    receiver.create_subscription(
        JointState, "js", lambda m: note(raw, float(reader.read(m)["position"][6])), deep, raw=True
    )
    receiver.create_subscription(JointState, "js", lambda m: note(ordinary, m.position[6]), deep)
    publisher = sender.create_publisher(JointState, "js", deep)
    connected = threading.Event()
    sender.create_timer(0.02, lambda: publisher.get_subscription_count() == 2 and connected.set())
    assert connected.wait(30)
    patched = PatchedMessage(joint_state(), ["position"])
    for number in range(wanted):
        patched["position"] = np.full(7, float(number))
        publisher.publish(patched.stamped(number))
    assert both.wait(30), (len(raw), len(ordinary))
    assert raw == ordinary == [float(n) for n in range(wanted)]
    assert reader.learnt == 1


@pytest.mark.parametrize("fields", [["position"], ["position", "velocity", "effort"]])
def test_reader_refuses_every_message_that_was_cut_short(fields: list[str]) -> None:
    whole = serialize_message(joint_state(effort=True))
    for length in range(len(whole)):
        with pytest.raises(LayoutError):
            RawReader(JointState, fields).read(whole[:length])


def test_reader_raises_nothing_else_whatever_the_bytes_are() -> None:
    message = joint_state(["a", "bc", "def"], effort=True)
    whole, rng = serialize_message(message), np.random.default_rng(4)
    refused = 0
    for _ in range(2000):
        data = bytearray(whole)
        for place in rng.integers(len(data), size=rng.integers(1, 5)):
            data[place] = rng.choice([0, 1, 127, 128, 255, rng.integers(256)])
        try:
            read = RawReader(JointState, ["position"]).read(bytes(data))
        except LayoutError:
            refused += 1
            continue
        arrived = deserialize_message(bytes(data), JointState)
        np.testing.assert_array_equal(read["position"], arrived.position)
        assert isinstance(read.stamp_ns, int) and read.template.name == arrived.name
    assert refused > 100


def test_reader_refuses_a_name_that_is_another_one_once_it_was_read() -> None:
    """What lies behind would be read from the wrong place: zeros look alike everywhere."""
    whole = serialize_message(joint_state(["ab", "cd", "ef"]))
    for byte in (b"\0", b"\xff"):
        with pytest.raises(LayoutError):
            RawReader(JointState, ["position"]).read(whole.replace(b"ab\0", b"a" + byte + b"\0"))


def test_an_empty_list_of_transforms_is_a_message_like_any_other() -> None:
    reader = RawReader(TFMessage, ["transforms[].transform"])
    read = reader.read(serialize_message(TFMessage()))
    assert read["transforms[].transform"].size == 0 and read.stamps_ns == []
    assert reader.read(serialize_message(transforms(2)))["transforms[].transform"].size == 14
