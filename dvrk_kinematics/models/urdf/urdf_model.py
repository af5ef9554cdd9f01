"""Any URDF, mimic joints included, as the links that frames() walks.

urdf = read_urdf("ecm.urdf", signs={"yaw": -1, "roll": -1}, root="ECM_RCM_link", T_root=T)
LinkTree(urdf.links, urdf.joint_names).frames(q)
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from dvrk_kinematics.errors import InvalidInput, MissingExtra, ModelError, UnknownName
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, frozen
from dvrk_kinematics.models.read_yaml import read_text
from dvrk_kinematics.models.schema import Inertial, JointKind, JointModel, LinkModel
from dvrk_kinematics.models.urdf.urdf_joint import (
    Mimic,
    UrdfJoint,
    follow_mimics,
    read_joint,
    read_pose,
)

__all__ = ["UrdfModel", "parse_robot", "parse_urdf", "read_urdf"]

_LOGGER = logging.getLogger(__name__)
_HINT = "install urdfdom-py with pip, or ros-<distro>-urdfdom-py where ROS 2 is installed"
# urdf_parser_py reports unknown items through one function of its module.
_REPORTING = threading.Lock()
_DEEPEST = 100
"""Nesting depth of elements; a URDF needs six, and simulator additions a few more."""

_READ_OF = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "joint": ("origin", "parent", "child", "axis", "limit", "mimic"),
}
"""What is read of an element. Transmissions, gazebo, ros2_control and other additions to a URDF
have their own rules, which only their users need; so do collision solids."""
_SHOWN_OF = {"robot": ("material",), "link": ("visual",)}
"""What is read in addition to display a robot."""


def parse_robot(text: str, source: str, has_visuals: bool = False) -> Any:
    """Reads a URDF with urdf_parser_py.

    Args:
        text: The whole file.
        source: Its name, for errors.
        has_visuals: Whether to read visuals and materials, which may cause a refusal. Kinematics
            does not need them.

    Returns:
        A ``urdf_parser_py.urdf.Robot``.

    Raises:
        ModelError: If it is not XML or not a URDF; names the file and what is wrong.
        MissingExtra: If urdf_parser_py is not installed.
    """
    try:
        from urdf_parser_py import urdf, xml_reflection
    except ImportError as error:
        raise MissingExtra("urdf_parser_py", _HINT) from error
    _check_xml(text, source)
    core = xml_reflection.core
    try:
        with _REPORTING, _quiet(xml_reflection, source):
            root = core.etree.fromstring(text.encode(), _lxml_parser(core.etree))
            _drop_others(root, has_visuals)
            path = core.Path("robot", tree=core.etree.ElementTree(root))
            return urdf.URDF.from_xml(root, path)
    except core.ParseError as error:
        raise ModelError(source, f"is no URDF: {' '.join(str(error).split())}") from error
    except Exception as error:
        # The library's own checks may let any exception through from below.
        raise ModelError(source, f"is no URDF: {type(error).__name__}: {error}") from error


def _drop_others(element: Any, has_visuals: bool) -> None:
    """Leave out what is not needed, before anything validates it."""
    if element.tag not in _READ_OF:
        return
    read = (*_READ_OF[element.tag], *(_SHOWN_OF.get(element.tag, ()) if has_visuals else ()))
    for part in list(element):
        if part.tag in read:
            _drop_others(part, has_visuals)
        else:
            element.remove(part)


def _lxml_parser(etree: Any) -> Any:
    """A parser for text that has passed :func:`_check_xml`, however long its parts are."""
    return etree.XMLParser(
        # Text has been decoded, whatever encoding it declares.
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )


def _check_xml(text: str, source: str) -> None:
    """Refuses text that is not XML, not a URDF, nested too deep, or has expandable entities."""
    parser = expat.ParserCreate(None, "}")
    depth = 0

    def refuse(reason: str) -> NoReturn:
        raise ModelError(f"{source}: line {parser.CurrentLineNumber}", f"is no URDF: {reason}")

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth == 1 and tag != "robot":
            refuse(f"the root element is <{tag}>, not <robot>")
        if depth == 2 and tag in ("link", "joint") and not attributes.get("name"):
            refuse(f"a <{tag}> has no name")
        if depth > _DEEPEST:
            refuse(f"<{tag}> is nested deeper than {_DEEPEST} elements")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def begin_doctype(*_: object) -> None:
        refuse("it has a DOCTYPE, which no URDF needs and which can hide entities")

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = begin_doctype
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ModelError(source, f"is no XML: {error}") from error
    except UnicodeEncodeError as error:
        raise ModelError(source, f"is no XML: character {error.start}: {error.reason}") from error


@contextmanager
def _quiet(library: Any, source: str) -> Iterator[None]:
    """Sends remarks about unknown tags to the log instead of the terminal."""
    # The parser calls one, the records of a URDF the other.
    modules = (library.core, library)
    before = [module.on_error for module in modules]

    def remark(message: str) -> None:
        _LOGGER.debug("%s: %s", source, message)

    for module in modules:
        module.on_error = remark
    try:
        yield
    finally:
        for module, function in zip(modules, before, strict=True):
            module.on_error = function


@dataclass(frozen=True, slots=True)
class UrdfModel:
    """What a URDF describes.

    Attributes:
        name: Name of the robot.
        links: All links, parents before children, mimics resolved to the joints below.
        joints: The joints that move on their own, in the order of the file, signs applied.
        root: The link whose pose is ``T_root``.
        source: The file.
        movable: Every joint that moves, mimics included, in the order of the file: the joint it
            follows, or itself if none, with the signs of ``parse_urdf`` applied.
    """

    name: str
    links: tuple[LinkModel, ...]
    joints: tuple[JointModel, ...]
    root: str
    source: str
    movable: Mapping[str, Mimic]

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move on their own, in order."""
        return tuple(joint.name for joint in self.joints)


def read_urdf(
    path: str | Path,
    signs: Mapping[str, float] | None = None,
    root: str | None = None,
    T_root: ArrayLike | None = None,
) -> UrdfModel:
    """Reads a URDF file; arguments and errors as for ``parse_urdf``."""
    file = Path(path)
    return parse_urdf(read_text(file), str(file), signs, root, T_root)


def parse_urdf(
    text: str,
    source: str = "URDF",
    signs: Mapping[str, float] | None = None,
    root: str | None = None,
    T_root: ArrayLike | None = None,
) -> UrdfModel:
    """Reads the text of a URDF.

    Args:
        text: The whole URDF.
        source: Name of the file, for errors.
        signs: +1 or -1 for joints that count against the controller; their mimics turn with them.
        root: Link that poses are relative to, fixed to the URDF's own root; by default that root.
        T_root: Pose of that link in the frame wanted for poses, shape (4, 4).

    Raises:
        ModelError: If the text is not a URDF, a name is repeated, links do not form a single tree,
            a mimic is circular or leads nowhere, or a number cannot be used; names file and joint.
        UnknownName: If ``signs`` or ``root`` name something that the URDF does not have.
        InvalidInput: If a sign is neither 1 nor -1, or ``T_root`` is not a valid pose.
    """
    robot = parse_robot(text, source)
    _refuse_repeated((link.name for link in robot.links), "link", source)
    _refuse_repeated((joint.name for joint in robot.joints), "joint", source)
    joints = {joint.name: read_joint(joint, source) for joint in robot.joints}
    bodies = {link.name: _read_inertial(link, source) for link in robot.links}
    top, order = _order(joints, bodies, source)
    leaders = follow_mimics(joints, source)
    moving = tuple(
        joint for name, joint in joints.items() if name in leaders and joint.mimic is None
    )
    turned = _check_signs(signs or {}, [joint.name for joint in moving])

    links = [LinkModel(top, None, frozen(np.eye(4)), frozen(np.eye(4)), inertial=bodies[top])]
    links += [_link(joint, leaders, turned, bodies) for joint in order]
    root = links[0].name if root is None else root
    links[0] = replace(links[0], T_pre=_place_root(links, root, T_root, source))
    models = tuple(_turned(joint.model, turned.get(joint.name, 1.0)) for joint in moving)
    movable = {
        name: replace(mimic, multiplier=mimic.multiplier * turned.get(mimic.joint, 1.0))
        for name, mimic in leaders.items()
    }
    return UrdfModel(robot.name, tuple(links), models, root, source, MappingProxyType(movable))


def _refuse_repeated(names: Iterable[str], kind: str, source: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f"{source}: {kind} {name}", "is given twice")
        seen.add(name)


def _read_inertial(link: Any, source: str) -> Inertial | None:
    if link.inertial is None or link.inertial.inertia is None:
        return None
    where = f"{source}: link {link.name}"
    T = read_pose(link.inertial.origin, where)
    inertia = T[:3, :3] @ np.array(link.inertial.inertia.to_matrix(), dtype=float) @ T[:3, :3].T
    mass = float(link.inertial.mass)
    if not (np.isfinite(inertia).all() and np.isfinite(mass)):
        raise ModelError(where, "mass and inertia must be finite")
    return Inertial(mass, frozen(T[:3, 3]), frozen(inertia), source)


def _link(
    joint: UrdfJoint,
    leaders: Mapping[str, Mimic],
    turned: Mapping[str, float],
    bodies: Mapping[str, Inertial | None],
) -> LinkModel:
    """The link below a joint."""
    body = bodies[joint.child]
    link = LinkModel(joint.child, joint.parent, joint.T_pre, joint.T_post, inertial=body)
    if joint.name not in leaders:
        return link
    leader = leaders[joint.name]
    return replace(
        link,
        joint=leader.joint,
        kind=joint.model.kind,
        multiplier=leader.multiplier * turned.get(leader.joint, 1.0),
        offset=leader.offset,
    )


def _order(
    joints: Mapping[str, UrdfJoint], links: Collection[str], source: str
) -> tuple[str, list[UrdfJoint]]:
    """The root link, and the joints from there down."""
    above: dict[str, UrdfJoint] = {}
    below: dict[str, list[UrdfJoint]] = {}
    for joint in joints.values():
        where = f"{source}: joint {joint.name}"
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise ModelError(
                    where, f"{end} link {name!r} does not exist; valid: {', '.join(links)}"
                )
        if joint.child in above:
            other = above[joint.child].name
            raise ModelError(where, f"link {joint.child!r} is already the child of {other!r}")
        above[joint.child] = joint
        below.setdefault(joint.parent, []).append(joint)
    roots = [name for name in links if name not in above]
    if len(roots) != 1:
        reason = f"has {len(roots)} root links ({', '.join(roots)}), a tree has one"
        raise ModelError(source, reason)
    order = list(below.get(roots[0], []))
    for joint in order:
        order += below.get(joint.child, [])
    reached = {joint.name for joint in order}
    for joint in joints.values():
        if joint.name not in reached:
            raise ModelError(f"{source}: joint {joint.name}", "hangs on itself, not on the root")
    return roots[0], order


def _check_signs(signs: Mapping[str, float], moving: list[str]) -> dict[str, float]:
    for name, sign in signs.items():
        if name not in moving:
            raise UnknownName("joint", name, moving)
        if sign not in (1, -1):
            raise InvalidInput("signs", f"{name} must be 1 or -1, is {sign}")
    return {name: float(sign) for name, sign in signs.items()}


def _turned(joint: JointModel, sign: float) -> JointModel:
    if sign > 0.0:
        return joint
    return replace(joint, lower=-joint.upper, upper=-joint.lower)


def _place_root(links: list[LinkModel], root: str, T_root: ArrayLike | None, source: str) -> Array:
    """The pose of the URDF's own root that puts the wanted link at ``T_root``."""
    by_name = {link.name: link for link in links}
    if root not in by_name:
        raise UnknownName("link", root, by_name)
    T_top_root = np.eye(4)
    link = by_name[root]
    while link.parent is not None:
        if link.kind is not JointKind.FIXED:
            raise ModelError(f"{source}: link {root}", f"cannot be the root: {link.name} moves")
        T_top_root = link.T_pre @ T_top_root
        link = by_name[link.parent]
    T_wanted = np.eye(4) if T_root is None else se3.check(T_root, "T_root")
    return frozen(T_wanted @ se3.inverse(T_top_root))
