"""The page that ./dvrk report makes of a bag."""

from dvrk_kinematics.cli.report.figures import (
    ArmFigures,
    JointFigures,
    MotionFigures,
    ReportFigures,
    compute_figures,
)
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.cli.report.recording import (
    ArmRecording,
    Recording,
)

__all__ = [
    "ArmFigures",
    "ArmRecording",
    "JointFigures",
    "MotionFigures",
    "Recording",
    "ReportFigures",
    "compute_figures",
    "read_recording",
]
