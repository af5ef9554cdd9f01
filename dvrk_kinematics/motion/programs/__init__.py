"""Programs: series of moves that are stored, edited and replayed."""

from dvrk_kinematics.motion.programs.program import (
    Program,
    Replay,
    plan_recording,
    plan_together,
)
from dvrk_kinematics.motion.programs.program_file import (
    format_recording,
    load_recording,
    save_recording,
)

__all__ = [
    "Program",
    "Replay",
    "format_recording",
    "load_recording",
    "plan_recording",
    "plan_together",
    "save_recording",
]
