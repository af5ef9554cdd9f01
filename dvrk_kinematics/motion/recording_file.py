"""Recordings in files: YAML that a person can read and edit, and that loses no digit.

    name: lift
    joint_names: [yaw, pitch, insertion, roll, wrist_pitch, wrist_yaw]
    steps:
    - move_abs_j: {jp: [0.1, 0.0, 0.12, 0.0, 0.2, 0.0], speed: 0.2, acceleration: 0.2}
    - move_l: {frame: tool, pose: {translation: [0.0, 0.0, -0.02]}}
    - move_l: {relative: true, pose: {translation: [0.0, 0.0, 0.02]}}

What is left out has its default: a pose its rotation (none), a move its frame (base), its speeds
and ``relative`` (false: a pose in the frame; true: a step along the frame's axes).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.reader import read_yaml
from dvrk_kinematics.motion.recording import Recording
from dvrk_kinematics.motion.recording_steps import read_step, write_step

__all__ = ["format_recording", "load_recording", "save_recording"]


def format_recording(recording: Recording) -> str:
    """The text of a recording's file."""
    data: dict[str, Any] = {"name": recording.name}
    if recording.joint_names:
        data["joint_names"] = list(recording.joint_names)
    data["steps"] = [write_step(step) for step in recording.steps]
    # Short lists on one line; floats are written with as many digits as tell them apart.
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=110)


def save_recording(recording: Recording, path: Path | str) -> None:
    """Write a recording to a file, whole or not at all.

    Raises:
        InvalidInput: The file cannot be written, with the reason.
    """
    file = Path(path)
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(format_recording(recording), encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise InvalidInput("path", f"{file} cannot be written: {error}") from error


def load_recording(path: Path | str) -> Recording:
    """Read a recording from a file.

    Raises:
        ModelError: It cannot be read, is no recording, or holds text where a number belongs;
            names the file and the place in it.
    """
    node = read_yaml(Path(path))
    node.keys(("name", "steps"), ("joint_names",))
    names: tuple[str, ...] = ()
    if "joint_names" in node:
        names = tuple(name.text() for name in node["joint_names"].elements())
    steps = tuple(read_step(step) for step in node["steps"].elements())
    if not steps:
        raise node["steps"].error("is empty; a recording needs at least one step")
    try:
        return Recording(node["name"].text(), names, steps)
    except InvalidInput as error:
        raise node.error(str(error)) from error
