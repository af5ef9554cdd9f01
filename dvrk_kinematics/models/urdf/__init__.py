"""URDFs: this project's own, and those of others, as the links of an arm."""

from dvrk_kinematics.models.urdf.description import describe
from dvrk_kinematics.models.urdf.joints import Mimic, UrdfJoint
from dvrk_kinematics.models.urdf.reader import UrdfModel, parse_urdf, read_urdf
from dvrk_kinematics.models.urdf.solids import Shape, Solid, read_solids

__all__ = [
    "Mimic",
    "Shape",
    "Solid",
    "UrdfJoint",
    "UrdfModel",
    "describe",
    "parse_urdf",
    "read_solids",
    "read_urdf",
]
