"""How a bridge describes its arm: the URDF, the links on tf, the joints in joint_states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dvrk_kinematics.errors import ModelError, UnknownName
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.link_transforms import FixedTransform
from dvrk_kinematics.models.read_yaml import read_text
from dvrk_kinematics.models.schema import JointModel, LinkModel
from dvrk_kinematics.models.urdf.describe_urdf import describe, expand
from dvrk_kinematics.models.urdf.urdf_joint import Mimic
from dvrk_kinematics.models.urdf.urdf_model import UrdfModel, parse_urdf
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.common.user_path import user_path

__all__ = ["Description", "describe_arm"]

_ROUNDING = 1e-3
"""URDF numbers are rounded: relative differences up to this are ignored."""


@dataclass(frozen=True, slots=True)
class Description:
    """The published description of an arm.

    Attributes:
        text: The URDF; empty if this arm has none.
        links: All links with their names on tf, parents before children; they follow the
            controller's joints.
        movable: Every joint of joint_states by its name there: the controller's joint that it
            follows, with its factor and offset.
        join: Transform that joins the tree to the dVRK's; None if it begins at the arm's base.
        excess: Where the URDF allows joints to go further or faster than the arm does, in words.
    """

    text: str
    links: tuple[LinkModel, ...]
    movable: dict[str, Mimic]
    join: FixedTransform | None
    excess: tuple[str, ...] = ()


def describe_arm(
    settings: BridgeSettings,
    links: Sequence[LinkModel],
    joints: Sequence[str],
    needed: Sequence[str],
    instrument: str,
    base: str,
    limits: Sequence[JointModel] = (),
) -> Description:
    """Describe an arm by the user's URDF, the project's own URDF, or its model alone.

    Args:
        settings: The URDF file and the prefixes.
        links: The links of the arm's model, for arms without a URDF.
        joints: The controller's joints that the arm reports, including the jaw.
        needed: Those that a URDF must move; without them it describes another arm.
        instrument: Number or name of the instrument; empty for none.
        base: The frame at which the dVRK's own tf tree ends.
        limits: Joints of the arm whose limits the URDF should share.

    Raises:
        DvrkError: The URDF cannot be used, or its joints differ from the arm's.
    """
    text = _read_text(settings, instrument)
    if not text:
        return _from_links(settings, links, joints, base)
    urdf = parse_urdf(
        text,
        settings.description or f"URDF of {settings.arm}",
        {f"{settings.joint_prefix}{name}": -1.0 for name in settings.description_signs if name},
        settings.description_root or None,
        _root_pose(settings),
    )
    described = _from_urdf(settings, text, urdf, joints, base)
    _check_whole(settings, urdf, needed)
    own = {settings.joint_prefix + joint.name: joint for joint in limits}
    told = (_find_excess(joint, own[joint.name]) for joint in urdf.joints if joint.name in own)
    return replace(described, excess=tuple(filter(None, told)))


def _find_excess(shown: JointModel, own: JointModel) -> str:
    """Where a URDF exceeds the arm's limits of a joint; empty if nowhere."""
    margin = _ROUNDING * max(1.0, own.upper - own.lower)
    told = []
    if shown.lower < own.lower - margin or shown.upper > own.upper + margin:
        told.append(_compare("{0.lower:g} to {0.upper:g}", shown, own))
    if shown.velocity > own.velocity * (1.0 + _ROUNDING):
        told.append(_compare("velocity {0.velocity:g}", shown, own))
    return f"{shown.name} {', '.join(told)}" if told else ""


def _compare(text: str, shown: JointModel, own: JointModel) -> str:
    return f"{text.format(shown)} (arm: {text.format(own)})"


def _check_whole(settings: BridgeSettings, urdf: UrdfModel, needed: Sequence[str]) -> None:
    """Refuse the URDF of an arm with fewer joints, such as that of an ECM for a PSM."""
    prefix = settings.joint_prefix
    missing = [prefix + name for name in needed if prefix + name not in urdf.joint_names]
    if missing:
        raise ModelError(
            urdf.source,
            f"does not move {', '.join(missing)}, which {settings.arm} has; it moves "
            f"{', '.join(urdf.joint_names)}. Is it the description of another arm?",
        )


def _from_links(
    settings: BridgeSettings, links: Sequence[LinkModel], joints: Sequence[str], base: str
) -> Description:
    """The links of the model, prefixed."""
    prefix = settings.link_prefix
    named = tuple(
        replace(
            link,
            name=prefix + link.name,
            parent=None if link.parent is None else prefix + link.parent,
        )
        for link in links
    )
    movable = {f"{settings.joint_prefix}{name}": Mimic(name, 1.0, 0.0) for name in joints}
    return Description("", named, movable, _find_join(settings, named, named[0].name, base))


def _read_text(settings: BridgeSettings, instrument: str) -> str:
    arguments = {"prefix": settings.link_prefix, "joint_prefix": settings.joint_prefix}
    if settings.description:
        path = user_path(settings.description, "description")
        return expand(path) if path.suffix == ".xacro" else read_text(path)
    if instrument:
        arguments["instrument"] = instrument
    if settings.generation != "Classic":
        # The linkages of these arms are not published, so we use the links of the model.
        return ""
    try:
        return describe(settings.arm, **arguments)
    except UnknownName:
        return ""


def _from_urdf(
    settings: BridgeSettings, text: str, urdf: UrdfModel, joints: Sequence[str], base: str
) -> Description:
    """Map the joints of a URDF, which may carry a prefix, to the controller's joints."""
    prefix = settings.joint_prefix
    known = {prefix + name: name for name in joints}
    strange = sorted(set(urdf.joint_names) - set(known))
    if strange:
        raise ModelError(
            urdf.source,
            f"moves {', '.join(strange)}, which {settings.arm} does not report; it reports "
            f"{', '.join(known)}",
        )
    links = tuple(
        link if link.joint is None else replace(link, joint=known[link.joint])
        for link in urdf.links
    )
    movable = {
        name: replace(mimic, joint=known[mimic.joint]) for name, mimic in urdf.movable.items()
    }
    return Description(text, links, movable, _find_join(settings, links, urdf.root, base))


def _root_pose(settings: BridgeSettings) -> Array:
    """Pose of the user's root link in the arm's base, shape (4, 4)."""
    x, y, z, roll, pitch, yaw = settings.description_pose
    return se3.make(so3.rot_z(yaw) @ so3.rot_y(pitch) @ so3.rot_x(roll), [x, y, z])


def _find_join(
    settings: BridgeSettings, links: Sequence[LinkModel], root: str, base: str
) -> FixedTransform | None:
    """The transform that joins the tree to the dVRK's, given the link at the arm's base."""
    top = links[0].name
    if settings.join == "none" or any(link.name == base for link in links):
        return None
    if settings.join == "base":
        return FixedTransform(root, base, se3.inverse(_root_pose(settings)))
    # The pose of the top link puts the arm's base at the origin.
    return FixedTransform(base, top, np.asarray(links[0].T_pre @ links[0].T_post))
