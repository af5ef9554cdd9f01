"""numpy to and from messages: every number where it belongs, bad rows told apart."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from dvrk_kinematics_interfaces.srv import SolveIk
from geometry_msgs.msg import Pose, Quaternion
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.common import conversions as conv
from dvrk_kinematics.ros.common.stamps import ns_to_stamp, seconds_to_ns, stamp_to_ns, write_stamp

JOINTS = ["yaw", "pitch", "insertion"]


def random_matrices(count: int) -> Array:
    rng = np.random.default_rng(4)
    T = np.tile(np.eye(4), (count, 1, 1))
    T[:, :3, :3] = so3.exp(rng.uniform(-3.0, 3.0, size=(count, 3)))
    T[:, :3, 3] = rng.normal(size=(count, 3))
    return T


def trajectory(names: list[str], rows: Array) -> JointTrajectory:
    points = [
        JointTrajectoryPoint(
            positions=row.tolist(),
            velocities=(10.0 * row).tolist(),
            time_from_start=ns_to_stamp(number * 50_000_000, Duration),
        )
        for number, row in enumerate(rows)
    ]
    return JointTrajectory(joint_names=names, points=points)


def test_matrices_survive_flat_poses() -> None:
    T = random_matrices(1000)
    back, good = conv.cp_to_matrices(conv.matrices_to_cp(T))
    assert good.all()
    np.testing.assert_allclose(back, T, atol=1e-14)


def test_a_batch_survives_the_wire() -> None:
    T = random_matrices(100)
    sent = SolveIk.Request(cp=conv.to_flat(conv.matrices_to_cp(T)))
    arrived = deserialize_message(serialize_message(sent), SolveIk.Request)
    back, _ = conv.cp_to_matrices(conv.cp_to_rows(arrived.cp))
    np.testing.assert_allclose(back, T, atol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_bad_rows_are_told_apart_and_none_is_lost(bad: float) -> None:
    cp = conv.matrices_to_cp(random_matrices(5))
    cp[3, 3:] = bad
    T, good = conv.cp_to_matrices(cp)
    assert good.tolist() == [True, True, True, False, True]
    assert np.isnan(T[3]).all() and np.isfinite(T[good]).all()


def test_a_rounded_quaternion_is_taken_and_normalised() -> None:
    T, good = conv.cp_to_matrices(np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.7071, 0.7071]]))
    assert good.all()
    assert so3.deviation(T[0, :3, :3]) < 1e-14


def test_pose_and_transform_messages_round_trip() -> None:
    T = random_matrices(1)[0]
    np.testing.assert_allclose(conv.pose_to_matrix(conv.matrix_to_pose(T)), T, atol=1e-14)
    np.testing.assert_allclose(
        conv.transform_to_matrix(conv.matrix_to_transform(T)), T, atol=1e-14
    )


def test_a_pose_that_is_none_says_so() -> None:
    with pytest.raises(InvalidInput, match="quaternion of length 1"):
        conv.pose_to_matrix(Pose(orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=2.0)))


@pytest.mark.parametrize(("typecode", "dtype"), [("d", "f8"), ("B", "u1"), ("I", "u4")])
def test_flat_arrays_carry_every_number(typecode: str, dtype: str) -> None:
    values = np.arange(12, dtype=dtype).reshape(3, 4).T
    assert conv.to_flat(values, typecode).tolist() == values.ravel().tolist()


def test_rows_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(InvalidInput, match="jp: 7 numbers are no whole rows of 6"):
        conv.flat_to_rows(conv.to_flat(np.zeros(7)), 6, "jp")
    assert conv.flat_to_rows(conv.to_flat(np.zeros(0)), 6, "jp").shape == (0, 6)
    assert conv.to_flat(np.zeros((0, 6))).tolist() == []


def test_trajectory_columns_follow_the_arm_whatever_the_goal_order() -> None:
    rows = np.arange(12.0).reshape(4, 3)
    knots = conv.trajectory_to_knots(trajectory(["insertion", "yaw", "pitch"], rows), JOINTS)
    np.testing.assert_array_equal(knots.position, rows[:, [1, 2, 0]])
    assert knots.velocity is not None
    np.testing.assert_array_equal(knots.velocity, 10.0 * rows[:, [1, 2, 0]])
    assert knots.acceleration is None
    assert knots.times_ns.tolist() == [0, 50_000_000, 100_000_000, 150_000_000]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["yaw", "pitch"], "lacks insertion"),
        (["yaw", "pitch", "roll"], "lacks insertion"),
        (["yaw", "pitch", "insertion", "roll"], "roll.* are not joints of this arm"),
        (["yaw", "pitch", "pitch", "insertion"], "names a joint twice"),
    ],
)
def test_trajectory_with_other_joints_is_refused(names: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        conv.trajectory_to_knots(trajectory(names, np.zeros((2, len(names)))), JOINTS)


def test_trajectory_with_a_short_point_names_the_point() -> None:
    goal = trajectory(JOINTS, np.zeros((3, 3)))
    goal.points[2].velocities = [0.0]
    with pytest.raises(InvalidInput, match=r"points\[2\]\.velocities: 1 numbers, but 3 joints"):
        conv.trajectory_to_knots(goal, JOINTS)


def test_joint_state_leaves_the_unknown_empty() -> None:
    state = conv.make_joint_state(JOINTS, np.arange(3.0))
    assert (list(state.position), list(state.velocity), list(state.effort)) == ([0, 1, 2], [], [])


@pytest.mark.parametrize("ns", [0, 1, 1_700_000_000_999_999_999, -1, -1_500_000_000])
def test_stamps_are_exact_to_the_nanosecond(ns: int) -> None:
    duration = ns_to_stamp(ns, Duration)
    assert stamp_to_ns(duration) == ns
    if ns >= 0:
        stamp = Time()
        write_stamp(stamp, ns)
        assert stamp_to_ns(stamp) == ns
    assert seconds_to_ns(ns * 1e-9) == pytest.approx(ns, abs=200)


@pytest.mark.parametrize("bad", [None, (0, np.nan), (1, np.inf), (5, np.nan), (6, 0.0), (3, 10.0)])
def test_one_pose_is_read_as_many_are(bad: tuple[int, float] | None) -> None:
    row = conv.matrices_to_cp(random_matrices(1))
    row[0, 3:] *= 1.0005
    if bad is not None:
        row[0, bad[0]] = bad[1]
    one, is_good = conv.cp_to_matrices(row)
    two, are_good = conv.cp_to_matrices(np.repeat(row, 2, axis=0))
    assert is_good.tolist() == are_good[:1].tolist()
    np.testing.assert_allclose(one, two[:1], rtol=0.0, atol=1e-15)
