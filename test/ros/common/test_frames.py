"""The buffer of frames: chains, ages, moments in the past, and what it refuses by a sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from hypothesis import given
from hypothesis import strategies as st
from rclpy.node import Node
from rclpy.publisher import Publisher
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.errors import FrameError
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import matrix_to_transform
from dvrk_kinematics.ros.common.frame_buffer import FrameBuffer
from dvrk_kinematics.ros.common.frame_listener import FrameListener
from dvrk_kinematics.ros.common.stamps import write_stamp

S = 1_000_000_000
TIMEOUT_S = 20.0


def pose(x: float = 0.0, y: float = 0.0, z: float = 0.0, turn: float = 0.0) -> Array:
    return se3.make(so3.rot_z(turn), [x, y, z])


def make_buffer(*edges: tuple[str, str, Array], stamp_ns: int = S) -> FrameBuffer:
    """Moving frames that arrived at 0 s on our clock."""
    buffer = FrameBuffer()
    for parent, child, T in edges:
        buffer.add(parent, child, T, stamp_ns, 0, is_static=False)
    return buffer


numbers = st.floats(-3.0, 3.0)
poses = st.builds(pose, numbers, numbers, numbers, numbers)


@given(st.lists(poses, min_size=1, max_size=6), st.lists(poses, min_size=1, max_size=6))
def test_a_frame_is_found_in_another_branch(left: list[Array], right: list[Array]) -> None:
    buffer, ends = FrameBuffer(), {}
    for side, steps in (("left", left), ("right", right)):
        parent, T = "root", np.eye(4)
        for k, step in enumerate(steps):
            buffer.add(parent, f"{side}{k}", step, S, 0, is_static=k % 2 == 0)
            parent, T = f"{side}{k}", T @ step
        ends[side] = (parent, T)
    (source, T_root_source), (target, T_root_target) = ends["left"], ends["right"]
    T = buffer.lookup(target, source, 0, 1.0)
    np.testing.assert_allclose(T, se3.inverse(T_root_target) @ T_root_source, atol=1e-12)
    back = buffer.lookup(source, target, 0, 1.0)
    np.testing.assert_allclose(T @ back, np.eye(4), atol=1e-12)


def test_a_frame_in_itself_is_where_it_is() -> None:
    buffer = make_buffer(("a", "b", pose(1.0)))
    np.testing.assert_array_equal(buffer.lookup("b", "b", 0, 1.0), np.eye(4))
    np.testing.assert_array_equal(buffer.lookup("a", "a", 0, 1.0), np.eye(4))


def test_an_unknown_frame_is_refused_with_those_that_there_are() -> None:
    buffer = make_buffer(("Cart", "PSM1_base", pose()))
    for target, source in (("Cart", "nowhere"), ("nowhere", "Cart"), ("nowhere", "nowhere")):
        with pytest.raises(FrameError, match=r"'nowhere' is not on tf.*Cart, PSM1_base") as caught:
            buffer.lookup(target, source, 0, 1.0)
        assert caught.value.frame == "nowhere"
    with pytest.raises(FrameError, match=r"there are: none"):
        FrameBuffer().lookup("a", "b", 0, 1.0)


def test_frames_of_two_trees_are_refused_with_both_tops() -> None:
    buffer = make_buffer(("Cart", "PSM1", pose()), ("world", "table", pose()))
    with pytest.raises(FrameError, match=r"'table' is not connected with 'PSM1'.*'world'.*'Cart'"):
        buffer.lookup("PSM1", "table", 0, 1.0)


def test_a_circle_of_parents_is_refused() -> None:
    buffer = make_buffer(("a", "b", pose()), ("b", "c", pose()), ("c", "a", pose()))
    with pytest.raises(FrameError, match=r"c -> b -> a -> c is a circle"):
        buffer.lookup("a", "c", 0, 1.0)


def test_a_moving_frame_ages_by_its_arrival_and_a_static_one_never() -> None:
    buffer = make_buffer(("a", "moving", pose(1.0)))
    buffer.add("a", "static", pose(2.0), 0, 0, is_static=True)
    assert buffer.lookup("a", "moving", round(0.5 * S), 0.5)[0, 3] == 1.0
    with pytest.raises(FrameError, match=r"'moving' is 0.6 s old; at most 0.5 s is allowed"):
        buffer.lookup("a", "moving", round(0.6 * S), 0.5)
    assert buffer.lookup("a", "static", 10_000 * S, 0.5)[0, 3] == 2.0


def test_what_lies_above_the_way_may_be_old() -> None:
    """The setup joints of an arm may have fallen silent; a camera on the arm is still known."""
    buffer = make_buffer(("Cart", "PSM1_base", pose(1.0)))
    for child in ("camera", "table"):
        buffer.add("PSM1_base", child, pose(2.0), 0, 0, is_static=True)
    assert buffer.lookup("PSM1_base", "camera", 100 * S, 0.5)[0, 3] == 2.0
    assert buffer.lookup("table", "camera", 100 * S, 0.5, 77 * S)[0, 3] == 0.0
    with pytest.raises(FrameError, match=r"'PSM1_base' is 100 s old"):
        buffer.lookup("Cart", "camera", 100 * S, 0.5)


@given(st.floats(0.0, 1.0), poses, poses)
def test_between_two_stamps_a_frame_goes_straight_and_turns_evenly(
    part: float, T_a: Array, T_b: Array
) -> None:
    buffer = make_buffer(("a", "b", T_a), stamp_ns=S)
    buffer.add("a", "b", T_b, 2 * S, 0, is_static=False)
    T = buffer.lookup("a", "b", 0, 1.0, S + round(part * S))
    np.testing.assert_allclose(T[:3, 3], (1 - part) * T_a[:3, 3] + part * T_b[:3, 3], atol=1e-8)
    whole = np.linalg.norm(so3.log(T_a[:3, :3].T @ T_b[:3, :3]))
    turned = np.linalg.norm(so3.log(T_a[:3, :3].T @ T[:3, :3]))
    assert abs(turned - part * whole) < 1e-7


def test_a_moment_outside_the_history_is_refused_with_what_is_known() -> None:
    buffer = make_buffer(("a", "b", pose(1.0)), stamp_ns=10 * S)
    buffer.add("a", "b", pose(2.0), 11 * S, 0, is_static=False)
    assert buffer.lookup("a", "b", 0, 1.0, 11 * S)[0, 3] == 2.0
    assert buffer.lookup("a", "b", 0, 1.0)[0, 3] == 2.0
    for stamp in (9, 12):
        with pytest.raises(FrameError, match=rf"not known at {stamp}.000 s, only from 10.000 to"):
            buffer.lookup("a", "b", 0, 1.0, stamp * S)


def test_the_history_is_two_seconds_long() -> None:
    buffer = FrameBuffer()
    for k in range(1000):
        buffer.add("a", "b", pose(float(k)), (k + 1) * S // 100, 0, is_static=False)
    assert buffer.lookup("a", "b", 0, 1.0, 8 * S)[0, 3] == 799.0
    with pytest.raises(FrameError, match=r"only from 8.000 to 10.000 s"):
        buffer.lookup("a", "b", 0, 1.0, 7 * S)


def test_a_clock_that_went_back_begins_a_new_history() -> None:
    buffer = make_buffer(("a", "b", pose(1.0)), stamp_ns=100 * S)
    buffer.add("a", "b", pose(2.0), 50 * S, 0, is_static=False)
    buffer.add("a", "b", pose(3.0), 51 * S, 0, is_static=False)
    assert buffer.lookup("a", "b", 0, 1.0, 51 * S)[0, 3] == 3.0
    with pytest.raises(FrameError, match=r"only from 50.000 to 51.000 s"):
        buffer.lookup("a", "b", 0, 1.0, 100 * S)


def test_a_frame_that_changes_its_parent_is_below_the_new_one_alone() -> None:
    buffer = make_buffer(("ECM", "PSM1_base", pose(1.0)), ("Cart", "ECM", pose(5.0)))
    buffer.add("Cart", "PSM1_base", pose(2.0), 2 * S, 0, is_static=False)
    assert buffer.lookup("Cart", "PSM1_base", 0, 1.0)[0, 3] == 2.0


@pytest.mark.parametrize(
    ("parent", "child", "T", "stamp_ns"),
    [
        ("a", "b", np.full((4, 4), np.nan), S),
        ("a", "b", pose(), 0),
        ("a", "a", pose(), S),
        ("a", "", pose(), S),
    ],
)
def test_what_is_no_transform_changes_nothing(
    parent: str, child: str, T: Array, stamp_ns: int
) -> None:
    buffer = FrameBuffer()
    buffer.add(parent, child, T, stamp_ns, 0, is_static=False)
    assert buffer.frames == ()


def _stamped(parent: str, child: str, T: Array, stamp_ns: int) -> TransformStamped:
    made = TransformStamped(child_frame_id=child, transform=matrix_to_transform(T))
    made.header.frame_id = parent
    write_stamp(made.header.stamp, stamp_ns)
    return made


def _until(done: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + TIMEOUT_S
    while not (result := done()):
        assert time.monotonic() < deadline, what
        time.sleep(0.01)
    return result


@pytest.fixture
def tf(spinning: Callable[..., Node]) -> tuple[Publisher, FrameListener]:
    """Who publishes tf, and a listener for a control loop that hears it."""
    moving = spinning("speaker").create_publisher(TFMessage, "/tf", qos.TF)
    listener = FrameListener(spinning("listener"), is_for_loop=True)
    _until(lambda: moving.get_subscription_count() > 0, "a reader of tf")
    return moving, listener


def test_a_listener_of_a_loop_knows_where_every_frame_is_now(
    tf: tuple[Publisher, FrameListener],
) -> None:
    """Nobody asked until then, and of what came the newest of each publisher is there."""
    moving, listener = tf
    for k in range(1, 300):
        child = ("table", "camera", "hand")[k % 3]
        moving.publish(TFMessage(transforms=[_stamped("world", child, pose(float(k)), k * S)]))
    newest = {"table": 297.0, "camera": 298.0, "hand": 299.0}
    for frame, x in newest.items():

        def is_there(frame: str = frame, x: float = x) -> bool:
            known = frame in listener.frames
            return known and bool(listener.lookup("world", frame, 10.0)[0, 3] == x)

        _until(is_there, frame)


def test_a_listener_hears_both_topics_and_what_was_latched_before(
    spinning: Callable[..., Node],
) -> None:
    speaker = spinning("speaker")
    static = speaker.create_publisher(TFMessage, "/tf_static", qos.TF_STATIC)
    moving = speaker.create_publisher(TFMessage, "/tf", qos.TF)
    T_camera = se3.make(so3.rot_x(0.3) @ so3.rot_z(2.0), [0.1, 0.2, 0.3])
    static.publish(TFMessage(transforms=[_stamped("table", "camera", T_camera, S)]))
    listener = FrameListener(spinning("listener"))
    _until(lambda: moving.get_subscription_count() > 0, "a reader of tf")
    for k in (1, 2):
        stamped = [_stamped("/world", "/table", pose(float(k)), k * S)]
        moving.publish(TFMessage(transforms=[*stamped, _stamped("world", "b", pose(), k * S)]))
    _until(lambda: set(listener.frames) >= {"world", "table", "camera", "b"}, "all frames")
    _until(lambda: listener.lookup("world", "table", 10.0)[0, 3] == 2.0, "the newest")
    np.testing.assert_allclose(
        listener.lookup("world", "camera", 10.0, round(1.5 * S)), pose(1.5) @ T_camera, atol=1e-12
    )
    with pytest.raises(FrameError, match=r"is not on tf; there are: b, camera, table, world"):
        listener.lookup("world", "nowhere", 10.0)
