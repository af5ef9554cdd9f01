"""URDFs: this project's own, and third-party ones, as the links of an arm."""

from dvrk_kinematics.models.urdf.describe_urdf import describe
from dvrk_kinematics.models.urdf.solids import Shape, Solid, read_solids
from dvrk_kinematics.models.urdf.urdf_joint import Mimic, UrdfJoint
from dvrk_kinematics.models.urdf.urdf_model import UrdfModel, parse_urdf, read_urdf

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
