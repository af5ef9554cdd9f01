"""Recordings in files: YAML that people can read and edit, with no loss of digits.

    name: lift
    joint_names: [yaw, pitch, insertion, roll, wrist_pitch, wrist_yaw]
    steps:
    - move_abs_j: {jp: [0.1, 0.0, 0.12, 0.0, 0.2, 0.0], speed: 0.2, acceleration: 0.2}
    - move_l: {frame: tool, pose: {translation: [0.0, 0.0, -0.02]}}
    - move_l: {relative: true, pose: {translation: [0.0, 0.0, 0.02]}}

Omitted items take their defaults: a pose its rotation (none), a move its frame (base), its speeds
and ``relative`` (false: a pose in the frame; true: a step along the frame's axes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import yaml

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.read_yaml import Node, read_yaml
from dvrk_kinematics.motion.moves import Frame, Move, MoveAbsJ, MoveC, MoveJ, MoveL
from dvrk_kinematics.motion.programs.program import Program
from dvrk_kinematics.motion.timing.logistic import Curve
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

__all__ = ["format_recording", "load_recording", "read_step", "save_recording", "write_step"]


def write_step(move: Move) -> dict[str, Any]:
    """A move as plain data, as stored in a file."""
    if isinstance(move, MoveAbsJ):
        data: dict[str, Any] = {"jp": move.jp.tolist(), **_fractions(move)}
        if move.curves:
            data["curves"] = [_floats(curve) for curve in move.curves]
        return {"move_abs_j": data}
    frame = move.frame if isinstance(move.frame, str) else _write_pose(move.frame)
    data = {"frame": frame, "pose": _write_pose(move.T)}
    if move.relative:
        data["relative"] = True
    if isinstance(move, MoveJ):
        return {"move_j": {**data, **_fractions(move)}}
    data["speeds"] = _floats(move.speeds)
    if isinstance(move, MoveC):
        return {"move_c": {**data, "via": move.via.tolist()}}
    return {"move_l": {**data, "blend_radius": float(move.blend_radius)}}


def read_step(node: Node) -> Move:
    """Read a move.

    Raises:
        ModelError: It is not a move; names the file and the place in it.
    """
    entries = list(node.items())
    if len(entries) != 1 or entries[0][0] not in _READERS:
        kinds = ", ".join(_READERS)
        raise node.error(f"must have one key, one of {kinds}; has {', '.join(node.mapping())}")
    kind, inner = entries[0]
    try:
        return _READERS[kind](inner)
    except InvalidInput as error:
        raise inner.error(str(error)) from error


def _fractions(move: MoveAbsJ | MoveJ) -> dict[str, float]:
    return {"speed": float(move.speed), "acceleration": float(move.acceleration)}


def _floats(record: TipSpeeds | Curve) -> dict[str, float]:
    # YAML does not treat numpy's numbers as floats.
    return {name: float(value) for name, value in asdict(record).items()}


def _write_pose(T: Array) -> dict[str, Any]:
    return {"translation": T[:3, 3].tolist(), "rotation": T[:3, :3].tolist()}


def _read_move_abs_j(node: Node) -> MoveAbsJ:
    node.keys(("jp",), ("speed", "acceleration", "curves"))
    jp = frozen([value.number() for value in node["jp"].elements()])
    curves: tuple[Curve, ...] = ()
    if "curves" in node:
        names = tuple(field.name for field in fields(Curve))
        curves = tuple(Curve(**_numbers(one, names)) for one in node["curves"].elements())
    return MoveAbsJ(jp, curves=curves, **_present(node, ("speed", "acceleration")))


def _read_move_j(node: Node) -> MoveJ:
    node.keys(("pose",), ("frame", "relative", "speed", "acceleration"))
    pose, frame = _read_pose(node["pose"]), _read_frame(node)
    fractions = _present(node, ("speed", "acceleration"))
    return MoveJ(pose, frame, relative=_read_relative(node), **fractions)


def _read_move_l(node: Node) -> MoveL:
    node.keys(("pose",), ("frame", "relative", "speeds", "blend_radius"))
    pose, frame, speeds = _read_pose(node["pose"]), _read_frame(node), _read_speeds(node)
    radius = _present(node, ("blend_radius",))
    return MoveL(pose, frame, speeds, relative=_read_relative(node), **radius)


def _read_move_c(node: Node) -> MoveC:
    node.keys(("pose", "via"), ("frame", "relative", "speeds"))
    pose, via = _read_pose(node["pose"]), frozen(node["via"].numbers(3))
    return MoveC(pose, via, _read_frame(node), _read_speeds(node), _read_relative(node))


_READERS: Mapping[str, Callable[[Node], Move]] = MappingProxyType(
    {
        "move_abs_j": _read_move_abs_j,
        "move_j": _read_move_j,
        "move_l": _read_move_l,
        "move_c": _read_move_c,
    }
)


def _read_pose(node: Node) -> Array:
    node.keys(("translation",), ("rotation",))
    R = node["rotation"].matrix(3, 3) if "rotation" in node else np.eye(3)
    T = se3.make(R, node["translation"].numbers(3))
    try:
        return se3.check(T, "pose")
    except InvalidInput as error:
        raise node.error(error.reason) from error


def _read_frame(node: Node) -> Frame:
    if "frame" not in node:
        return "base"
    frame = node["frame"]
    return _read_pose(frame) if isinstance(frame.value, dict) else frame.text()


def _read_relative(node: Node) -> bool:
    return node["relative"].flag() if "relative" in node else False


def _read_speeds(node: Node) -> TipSpeeds:
    if "speeds" not in node:
        return TipSpeeds()
    return TipSpeeds(**_numbers(node["speeds"], tuple(f.name for f in fields(TipSpeeds))))


def _numbers(node: Node, names: tuple[str, ...]) -> dict[str, float]:
    """The numbers of a mapping that may have only these keys."""
    node.keys((), names)
    return _present(node, names)


def _present(node: Node, names: tuple[str, ...]) -> dict[str, float]:
    """The given numbers that a mapping has; the others keep their defaults."""
    return {name: node[name].number() for name in names if name in node}


def format_recording(recording: Program) -> str:
    """The text of a recording's file."""
    data: dict[str, Any] = {"name": recording.name}
    if recording.joint_names:
        data["joint_names"] = list(recording.joint_names)
    data["steps"] = [write_step(step) for step in recording.steps]
    # Short lists on one line; floats have enough digits to tell them apart.
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=110)


def save_recording(recording: Program, path: Path | str) -> None:
    """Write a recording to a file, completely or not at all.

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


def load_recording(path: Path | str) -> Program:
    """Read a recording from a file.

    Raises:
        ModelError: It cannot be read, is not a recording, or holds text where a number belongs;
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
        return Program(node["name"].text(), names, steps)
    except InvalidInput as error:
        raise node.error(str(error)) from error
