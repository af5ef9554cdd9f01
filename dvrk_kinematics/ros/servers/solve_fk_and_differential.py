"""Answers SolveFk and SolveDifferential for whole batches, without omitting rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from dvrk_kinematics_interfaces.srv import SolveDifferential, SolveFk
from numpy.typing import NDArray

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.ros.common.conversions import flat_to_rows, matrices_to_cp, to_flat

__all__ = ["solve_differential", "solve_fk"]


def solve_fk(arm: Arm, base: str, prefix: str, request: Any, response: Any) -> None:
    """Answer forward kinematics.

    Args:
        arm: The arm.
        base: Name of its base frame.
        prefix: Prefix of its links on tf.
        request: A SolveFk.Request.
        response: Written in place.

    Raises:
        InvalidInput: The arrays do not hold whole rows.
    """
    q = flat_to_rows(request.jp, len(arm.joint_names), "jp")
    good = np.isfinite(q).all(axis=1)
    cp = np.full((len(q), 7), np.nan)
    if good.any():
        cp[good] = matrices_to_cp(arm.forward(q[good]))
    response.joint_names = list(arm.joint_names)
    response.frame_id, response.child_frame_id = base, f"{prefix}{arm.model.tip_link}"
    response.cp = to_flat(cp)
    invalid = SolveFk.Response.INVALID_INPUT
    response.status = to_flat(np.where(good, SolveFk.Response.OK, invalid), "B")
    if request.with_links:
        names = arm.link_names
        links = np.full((len(q), len(names), 7), np.nan)
        if good.any():
            frames = arm.frames(q[good])
            links[good] = np.stack([matrices_to_cp(frames[name]) for name in names], axis=1)
        response.link_names = [f"{prefix}{name}" for name in names]
        response.link_cp = to_flat(links)


def solve_differential(arm: Arm, base: str, request: Any, response: Any) -> None:
    """Answer differential kinematics.

    Args:
        arm: The arm.
        base: Name of its base frame.
        request: A SolveDifferential.Request.
        response: Written in place.

    Raises:
        InvalidInput: The arrays do not fit together.
    """
    joints = len(arm.joint_names)
    q = flat_to_rows(request.jp, joints, "jp")
    given = {
        "jv": _same_rows(request.jv, joints, "jv", len(q)),
        "ja": _same_rows(request.ja, joints, "ja", len(q)),
        "cv": _same_rows(request.cv, 6, "cv", len(q)),
        "ca": _same_rows(request.ca, 6, "ca", len(q)),
    }
    parts = [q, *(rows for rows in given.values() if rows is not None)]
    good = np.asarray(np.isfinite(np.concatenate(parts, axis=1)).all(axis=1))
    response.joint_names, response.frame_id = list(arm.joint_names), base
    safe = {name: None if rows is None else rows[good] for name, rows in given.items()}
    damping = np.zeros(len(q))
    _write_rates(arm, q, good, safe, damping, response)
    if request.with_jacobian:
        response.jacobian = _spread(arm.jacobian(q[good]), good)
    if request.with_jacobian_rate:
        rates = safe["jv"] if safe["jv"] is not None else np.zeros_like(q[good])
        response.jacobian_rate = _spread(arm.jacobian_rate(q[good], rates), good)
    kinds = SolveDifferential.Response
    status = np.where(damping > 0.0, kinds.DAMPED, kinds.OK)
    response.status = to_flat(np.where(good, status, kinds.INVALID_INPUT), "B")
    response.damping = to_flat(damping)


def _write_rates(
    arm: Arm,
    q: Array,
    good: NDArray[np.bool_],
    safe: dict[str, Array | None],
    damping: Array,
    response: Any,
) -> None:
    rows = q[good]
    jv = safe["jv"] if safe["jv"] is not None else np.zeros_like(rows)
    if safe["cv"] is not None:
        solved = arm.solve_velocity(rows, safe["cv"])
        response.jv = _spread(solved.rate, good)
        damping[good] = np.maximum(damping[good], solved.damping)
        if safe["jv"] is None:
            jv = solved.rate
    if safe["ca"] is not None:
        solved = arm.solve_acceleration(rows, jv, safe["ca"])
        response.ja = _spread(solved.rate, good)
        damping[good] = np.maximum(damping[good], solved.damping)
    if safe["jv"] is not None:
        response.cv = _spread(arm.twist(rows, jv), good)
    if safe["ja"] is not None:
        response.ca = _spread(arm.acceleration(rows, jv, safe["ja"]), good)


def _same_rows(flat: Any, columns: int, field: str, count: int) -> Array | None:
    if not len(flat):
        return None
    rows = flat_to_rows(flat, columns, field)
    if len(rows) != count:
        raise InvalidInput(field, f"has {len(rows)} rows, jp has {count}")
    return rows


def _spread(values: Array, good: NDArray[np.bool_]) -> Any:
    """Put rows back in their places, with NaN in the others."""
    full = np.full((len(good), *values.shape[1:]), np.nan)
    full[good] = values
    return to_flat(full)
