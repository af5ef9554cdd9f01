"""What a URDF shows: boxes, cylinders and spheres with their colours, link by link."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.urdf.urdf_joint import read_pose
from dvrk_kinematics.models.urdf.urdf_model import parse_robot

__all__ = ["Shape", "Solid", "read_solids"]

_PLAIN = (0.7, 0.7, 0.7, 1.0)


class Shape(str, Enum):
    """The solids of a URDF that need no mesh file."""

    BOX = "box"
    CYLINDER = "cylinder"
    SPHERE = "sphere"


@dataclass(frozen=True, slots=True)
class Solid:
    """One visual of a link.

    Attributes:
        link: The link it is fixed to.
        shape: What it is.
        size: Edges (box), radius and length along z (cylinder) or radius (sphere), in metres.
        T_link_solid: Pose of its middle in the link, shape (4, 4).
        rgba: Colour, 0 to 1.
    """

    link: str
    shape: Shape
    size: tuple[float, ...]
    T_link_solid: Array
    rgba: tuple[float, ...]


def read_solids(text: str, source: str = "URDF") -> tuple[Solid, ...]:
    """The visuals of a URDF; meshes are left out.

    Raises:
        ModelError: If the text is not a URDF.
    """
    robot = parse_robot(text, source, has_visuals=True)
    colours = {m.name: tuple(m.color.rgba) for m in robot.materials if m.color is not None}
    solids = []
    for link in robot.links:
        for visual in link.visuals:
            shape = _shape(visual.geometry)
            if shape is not None:
                T = frozen(read_pose(visual.origin, f"{source}: link {link.name}"))
                solids.append(Solid(link.name, *shape, T, _colour(visual.material, colours)))
    return tuple(solids)


def _shape(geometry: Any) -> tuple[Shape, tuple[float, ...]] | None:
    name = type(geometry).__name__
    if name == "Box":
        return Shape.BOX, tuple(geometry.size)
    if name == "Cylinder":
        return Shape.CYLINDER, (geometry.radius, geometry.length)
    if name == "Sphere":
        return Shape.SPHERE, (geometry.radius,)
    return None


def _colour(material: Any, colours: dict[str, tuple[float, ...]]) -> tuple[float, ...]:
    if material is None:
        return _PLAIN
    if material.color is not None:
        return tuple(material.color.rgba)
    return colours.get(material.name, _PLAIN)
