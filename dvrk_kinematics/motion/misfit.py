"""Why a figure does not fit where it fits best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dvrk_kinematics.errors import FitCause
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.place_margin import COARSE, PlaceMargin

__all__ = ["Misfit", "find_misfit"]

_NAN = float("nan")


class Misfit(NamedTuple):
    """What keeps a figure from fitting.

    Attributes:
        cause: What kind of thing it is.
        reason: The same in words.
        joint: The joint that forbids it; empty if none does.
        value: What the figure would need: a joint position (rad, m), the angle by which a joint
            would have to turn (rad), the depth of the wrist (m) or the margin; NaN if there is no
            number to it.
        limit: What is allowed.
    """

    cause: FitCause
    reason: str
    joint: str = ""
    value: float = _NAN
    limit: float = _NAN


def find_misfit(
    margin: PlaceMargin,
    T_base_figure: Array,
    scale: float,
    min_margin: float,
    places: Array,
) -> Misfit:
    """Find out why a figure does not fit.

    Args:
        margin: Tells the margin of a place.
        T_base_figure: Where it fits best and yet does not, shape (4, 4).
        scale: Its size there.
        min_margin: The margin that it should have.
        places: Places all over the arm's reach, shape (M, 4).
    """
    q, margins = margin.trace(T_base_figure, scale)
    at, j = _find_worst(margins)
    if not np.isfinite(margins[at, j]):
        return _find_unreached(margin, scale, places)
    if margins[at, j] >= 0.0:
        name, found = margin.joint_names[j], float(margins[at, j])
        reason = (
            f"its best place has a margin of {found:.4g} ({margin.name_limit(q[at], j)}), and "
            f"{min_margin:.4g} was asked for"
        )
        return Misfit(FitCause.MARGIN, reason, name, found, min_margin)
    turned = float(np.ptp(q[:, j]))
    room = float(margin.upper[j] - margin.lower[j])
    if margin.is_turning(j) and turned > room:
        return _tell_turn(margin, j, turned, room)
    return _tell_limit(margin, q, margins)


def _find_worst(margins: Array) -> tuple[int, int]:
    """Sample and joint of the smallest margin, of shape (S, n)."""
    at, joint = np.unravel_index(int(margins.argmin()), margins.shape)
    return int(at), int(joint)


def _find_unreached(margin: PlaceMargin, scale: float, places: Array) -> Misfit:
    """Tell apart a pose that is out of reach and poses between which the joints jump."""
    corners = margin.poses(scale, COARSE)
    alone = margin.margins(places, scale, corners, is_path=False)
    best = int(np.argmax(alone))
    if not np.isfinite(alone[best]):
        reason = "wherever it lies, no joint positions put the tip into some of its poses"
        return Misfit(FitCause.REACH, reason)
    if alone[best] >= 0.0:
        reason = "the arm reaches each of its poses, but its joints would have to jump in between"
        return Misfit(FitCause.JUMP, reason)
    T_base_figure = margin.pose(places[best], scale)
    return _tell_limit(margin, *margin.trace(T_base_figure, scale, COARSE, is_path=False))


def _tell_turn(margin: PlaceMargin, j: int, turned: float, room: float) -> Misfit:
    name, figure = margin.joint_names[j], margin.figure
    headings = np.cumsum(np.concatenate([[0.0], figure.turns]))
    tool = float(np.ptp(headings))
    what, angle = ("it turns the tool", tool) if tool > room else (f"it turns {name}", turned)
    reason = f"{what} by {np.degrees(angle):.0f} degrees, and {name} has {np.degrees(room):.0f}"
    if tool > 0.0:
        reason += '; the orientation "fixed" needs no turn'
    return Misfit(FitCause.TURN, reason, name, angle, room)


def _tell_limit(margin: PlaceMargin, q: Array, margins: Array) -> Misfit:
    at, j = _find_worst(margins)
    name, value = margin.joint_names[j], float(q[at, j])
    is_low = value < margin.lower[j]
    others = [
        margin.joint_names[k] for k in np.flatnonzero(margins.min(axis=0) < 0.0).tolist() if k != j
    ]
    also = f"; also outside there: {', '.join(others)}" if others else ""
    rule = margin.cannula
    if rule is not None and rule.joint == j and is_low:
        depth = rule.depth(q[at])
        reason = (
            f"at its best place the wrist would be {depth:.4f} m beyond the remote centre, and "
            f"must be {rule.min_depth_m:.4f}{also}"
        )
        return Misfit(FitCause.CANNULA, reason, name, depth, rule.min_depth_m)
    low, high = float(margin.lower[j]), float(margin.upper[j])
    reason = (
        f"at its best place {name} would be {value:.4f}, allowed {low:.4f} to {high:.4f}{also}"
    )
    return Misfit(FitCause.JOINT_LIMIT, reason, name, value, low if is_low else high)
