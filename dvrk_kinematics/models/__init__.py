"""Arms and instruments as data: frozen records read from config/models."""

from dvrk_kinematics.models.instruments import instrument_names
from dvrk_kinematics.models.load_model import load_model
from dvrk_kinematics.models.model_files import arm_names, model_name
from dvrk_kinematics.models.schema import (
    ArmModel,
    DhRow,
    Inertial,
    InstrumentModel,
    JointKind,
    JointModel,
    LinkModel,
)
from dvrk_kinematics.models.zero import Zero

__all__ = [
    "ArmModel",
    "DhRow",
    "Inertial",
    "InstrumentModel",
    "JointKind",
    "JointModel",
    "LinkModel",
    "Zero",
    "arm_names",
    "instrument_names",
    "load_model",
    "model_name",
]
