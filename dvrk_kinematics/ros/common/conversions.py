"""Conversions between numpy arrays and messages, a whole array at a time.

A flat pose (``cp``) is 7 numbers: x y z (m), then the quaternion qx qy qz qw. Rows are
contiguous.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.geometry.floats import pose_from_numbers
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

__all__ = [
    "JointKnots",
    "cp_to_matrices",
    "cp_to_rows",
    "flat_to_rows",
    "joint_state_rows",
    "make_joint_state",
    "matrices_to_cp",
    "matrix_to_pose",
    "matrix_to_transform",
    "pose_to_matrix",
    "to_flat",
    "trajectory_to_knots",
    "transform_to_matrix",
]

_QUATERNION_TOLERANCE = 1e-3
"""How far a quaternion's length may be from 1 (rounded text) before it counts as a mistake."""

_NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])


def to_flat(values: NDArray[Any], typecode: str = "d") -> array[Any]:
    """Copy an array into the type of a message's array field, without checking each number.

    Args:
        values: The numbers, of any shape, written row by row.
        typecode: "d" for float64[], "B" for uint8[], "I" for uint32[].
    """
    flat: array[Any] = array(typecode)
    # A memory view without any rows cannot be cast.
    if values.size:
        flat.frombytes(np.ascontiguousarray(values, dtype=np.dtype(typecode)).data.cast("B"))
    return flat


def flat_to_rows(flat: array[float], columns: int, field: str) -> Array:
    """View a message's flat array as rows, without copying.

    Args:
        flat: The field's value.
        columns: Numbers per row.
        field: The field's name, for the error.

    Returns:
        Array (N, columns), read-only.

    Raises:
        InvalidInput: If the length is not a multiple of columns.
    """
    values = np.frombuffer(flat, dtype=np.float64) if len(flat) else np.empty(0)
    if columns == 0 or values.size % columns:
        raise InvalidInput(field, f"{values.size} numbers are no whole rows of {columns}")
    rows = values.reshape(-1, columns)
    rows.setflags(write=False)
    return rows


def cp_to_matrices(rows: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Turn flat poses into matrices.

    Args:
        rows: Poses (N, 7), x y z qx qy qz qw.

    Returns:
        Matrices (N, 4, 4), NaN where a row is not a valid pose, and which rows are valid (N,).
    """
    if len(rows) == 1:
        return _one_to_matrix(rows[0].tolist())
    length = np.linalg.norm(rows[:, 3:], axis=1)
    good = np.isfinite(rows).all(axis=1) & (np.abs(length - 1.0) <= _QUATERNION_TOLERANCE)
    T = np.empty((len(rows), 4, 4))
    T[:, :3, :3] = so3.from_quaternion(np.where(good[:, None], rows[:, 3:], _NO_TURN))
    T[:, :3, 3] = rows[:, :3]
    T[:, 3] = _NO_TURN
    T[~good] = np.nan
    return T, good


def _one_to_matrix(row: list[float]) -> tuple[Array, NDArray[np.bool_]]:
    """Do the same for one pose in plain floats, several times faster than one-row arrays."""
    px, py, pz, x, y, z, w = row
    length = sqrt(x * x + y * y + z * z + w * w)
    if not (abs(length - 1.0) <= _QUATERNION_TOLERANCE and isfinite(px + py + pz)):
        return np.full((1, 4, 4), np.nan), np.array([False])
    T = pose_from_numbers((px, py, pz, x / length, y / length, z / length, w / length))
    return np.array([T]), np.array([True])


def cp_to_rows(flat: array[float], field: str = "cp") -> Array:
    """View a message's flat poses as rows (N, 7), without copying."""
    return flat_to_rows(flat, 7, field)


def matrices_to_cp(T: Array) -> Array:
    """Turn matrices (..., 4, 4) into flat poses (..., 7)."""
    cp = np.empty((*T.shape[:-2], 7))
    cp[..., :3] = T[..., :3, 3]
    cp[..., 3:] = so3.to_quaternion(T[..., :3, :3])
    return cp


def pose_to_matrix(pose: Pose) -> Array:
    """Turn a Pose into a matrix (4, 4).

    Raises:
        InvalidInput: If it holds NaN or infinity, or its quaternion is not of length 1.
    """
    return _to_matrix("pose", pose.position, pose.orientation)


def transform_to_matrix(transform: Transform) -> Array:
    """Turn a Transform into a matrix (4, 4).

    Raises:
        InvalidInput: If it holds NaN or infinity, or its quaternion is not of length 1.
    """
    return _to_matrix("transform", transform.translation, transform.rotation)


def _to_matrix(what: str, p: Any, q: Any) -> Array:
    row = np.array([[p.x, p.y, p.z, q.x, q.y, q.z, q.w]])
    T, good = cp_to_matrices(row)
    if not good[0]:
        raise InvalidInput(
            what,
            f"{row[0].tolist()} is not a valid pose: "
            "all must be finite and the quaternion of length 1",
        )
    return np.asarray(T[0])


def matrix_to_pose(T: Array) -> Pose:
    """Turn a matrix (4, 4) into a Pose."""
    x, y, z, qx, qy, qz, qw = matrices_to_cp(T).tolist()
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def matrix_to_transform(T: Array) -> Transform:
    """Turn a matrix (4, 4) into a Transform."""
    x, y, z, qx, qy, qz, qw = matrices_to_cp(T).tolist()
    return Transform(
        translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw)
    )


def make_joint_state(
    names: Sequence[str],
    position: Array,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> JointState:
    """Make a JointState without a stamp; unknown fields stay empty."""
    none = np.empty(0)
    return JointState(
        name=list(names),
        position=to_flat(position),
        velocity=to_flat(none if velocity is None else velocity),
        effort=to_flat(none if effort is None else effort),
    )


def joint_state_rows(given: Sequence[str], wanted: Sequence[str], field: str) -> NDArray[np.intp]:
    """Find each wanted joint in a message that may name its joints in any order.

    Raises:
        InvalidInput: If a joint is missing or named twice.
    """
    place = {name: row for row, name in enumerate(given)}
    missing = [name for name in wanted if name not in place]
    if missing or len(place) != len(given):
        wrong = f"lacks {', '.join(missing)}" if missing else "names a joint twice"
        raise InvalidInput(field, f"{list(given)} {wrong}; needed: {list(wanted)}")
    return np.array([place[name] for name in wanted], dtype=np.intp)


class JointKnots(NamedTuple):
    """A joint trajectory as arrays.

    Attributes:
        times_ns: Time from start of each knot (K,), nanoseconds.
        position: Joint positions (K, n), rad or m.
        velocity: Joint velocities (K, n), or None if the trajectory carries none.
        acceleration: Joint accelerations (K, n), or None if the trajectory carries none.
    """

    times_ns: NDArray[np.int64]
    position: Array
    velocity: Array | None
    acceleration: Array | None


def trajectory_to_knots(trajectory: Any, joints: Sequence[str]) -> JointKnots:
    """Turn a JointTrajectory into arrays with their columns in the order of the joints.

    Args:
        trajectory: A trajectory_msgs JointTrajectory with its joints in any order.
        joints: The joints of the arm; the trajectory must have exactly these.

    Raises:
        InvalidInput: If joints or numbers are missing, or there are joints that the arm does not
            have.
    """
    columns = joint_state_rows(trajectory.joint_names, joints, "joint_names")
    if len(trajectory.joint_names) != len(joints):
        extra = sorted(set(trajectory.joint_names) - set(joints))
        raise InvalidInput(
            "joint_names", f"{extra} are not joints of this arm; it has {list(joints)}"
        )
    points = trajectory.points
    times = np.array([stamp_to_ns(point.time_from_start) for point in points], dtype=np.int64)
    position = _gather(points, "positions", columns)
    if position is None:
        raise InvalidInput("points", "there are no positions")
    return JointKnots(
        times,
        position,
        _gather(points, "velocities", columns),
        _gather(points, "accelerations", columns),
    )


def _gather(points: Sequence[Any], field: str, columns: NDArray[np.intp]) -> Array | None:
    rows = [getattr(point, field) for point in points]
    widths = {len(row) for row in rows}
    if widths <= {0}:
        return None
    if widths != {len(columns)}:
        first = next(k for k, row in enumerate(rows) if len(row) != len(columns))
        raise InvalidInput(
            f"points[{first}].{field}", f"{len(rows[first])} numbers, but {len(columns)} joints"
        )
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.float64, count=len(rows) * len(columns))
    return np.asarray(flat.reshape(-1, len(columns))[:, columns])
