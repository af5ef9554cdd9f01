"""From model files to an ArmModel."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models import model_files as files
from dvrk_kinematics.models.dh_rows import read_chain, read_joints
from dvrk_kinematics.models.inertials import attach_inertials
from dvrk_kinematics.models.instruments import instrument_names as _instrument_names
from dvrk_kinematics.models.instruments import read_instrument
from dvrk_kinematics.models.links import (
    ROOT,
    TIP,
    chain_links,
    read_links,
    read_loops,
    root_link,
)
from dvrk_kinematics.models.read_controller import read_controller
from dvrk_kinematics.models.read_yaml import Node
from dvrk_kinematics.models.schema import (
    ArmModel,
    Convention,
    DhRow,
    InstrumentModel,
    JointModel,
    LinkModel,
)

__all__ = ["arm_names", "instrument_names", "load_model", "model_name"]

_REQUIRED = ("name", "generation", "source", "convention", "joints", "chain")
_OPTIONAL = (
    "kind",
    "ik",
    "controller",
    "default_instrument",
    "joint_prefix",
    "base",
    "tip",
    "tree",
    "loops",
    "inertials",
    "derived",
    "disc_tolerance",
)

arm_names = files.arm_names
model_name = files.model_name


def instrument_names(generation: str | None = None, folder: Path | None = None) -> tuple[str, ...]:
    """Full names of the instruments, of one generation if it is given."""
    file = files.read_cached((folder or files.find_models_dir()) / files.INSTRUMENTS_FILE)
    names = _instrument_names(file)
    if generation is None:
        return names
    fitting = []
    for name in names:
        try:
            read_instrument(file, name, generation, "PSM")
        except InvalidInput:
            continue
        fitting.append(name)
    return tuple(fitting)


def load_model(
    name: str,
    instrument: str | None = None,
    generation: str = "Classic",
    folder: Path | None = None,
) -> ArmModel:
    """Reads an arm, complete with its instrument.

    Args:
        name: "PSM", "ECM", "SUJ_PSM1", "MTML", "RVM1" and so on, in any case; or an instance's
            name, which adds a number: "PSM1" is a PSM.
        instrument: Number ("400006") or full name, in any case; the arm's usual one by default.
        generation: "Classic" or "Si".
        folder: Folder of the model files; the project's own by default.

    Raises:
        UnknownName: If the arm, generation or instrument is unknown; lists those that exist.
        InvalidInput: If the arm carries no instrument, or not one of that generation.
        ModelError: If a file is wrong; names file and place.
    """
    node = files.read_arm_file(name, generation, folder)
    node.keys(_REQUIRED, _OPTIONAL)
    mounted = _read_mounted(node, instrument, folder)
    convention = _read_convention(node)
    prefix = node["joint_prefix"].text() if "joint_prefix" in node else ""
    joints = read_joints(node["joints"], prefix)
    chain = read_chain(node["chain"], joints, prefix)
    eye = frozen(np.eye(4))
    T_base = node["base"].pose() if "base" in node else eye
    T_tip = node["tip"].pose() if "tip" in node else eye
    links = _read_tree(node, joints, chain, convention, T_base, T_tip, mounted)
    if mounted is not None:
        joints, chain, T_tip = (
            joints + mounted.joints,
            chain + mounted.chain,
            mounted.T_tip_offset,
        )
    return ArmModel(
        name=node["name"].text(),
        kind=(node["kind"] if "kind" in node else node["name"]).text(),
        generation=node["generation"].text(),
        convention=convention,
        joints=joints,
        chain=chain,
        T_base=T_base,
        T_tip_offset=T_tip,
        links=links,
        tip_link=TIP,
        loops=read_loops(node["loops"], links) if "loops" in node else (),
        jaw=mounted.jaw if mounted else None,
        instrument=mounted,
        ik=mounted.ik if mounted else node["ik"].text(),
        source=node["source"].text(),
        controller=read_controller(node["controller"], joints) if "controller" in node else None,
        disc_tolerance=node["disc_tolerance"].number() if "disc_tolerance" in node else math.inf,
        file=f"{node.file} with {mounted.source}" if mounted else node.file,
    )


def _read_mounted(
    node: Node, instrument: str | None, folder: Path | None
) -> InstrumentModel | None:
    if "default_instrument" not in node:
        if instrument is not None:
            raise InvalidInput("instrument", f"{node['name'].text()} carries none")
        return None
    file = files.read_cached((folder or files.find_models_dir()) / files.INSTRUMENTS_FILE)
    generation, name = node["generation"].text(), node["name"].text()
    if instrument is not None:
        return read_instrument(file, instrument, generation, name)
    usual = node["default_instrument"]
    try:
        return read_instrument(file, usual.text(), generation, name)
    except (UnknownName, InvalidInput) as error:
        raise usual.error(str(error)) from error


def _read_convention(node: Node) -> Convention:
    text = node["convention"].text()
    try:
        return Convention(text)
    except ValueError:
        allowed = ", ".join(item.value for item in Convention)
        raise node["convention"].error(f"must be one of {allowed}, is {text!r}") from None


def _read_tree(
    node: Node,
    joints: tuple[JointModel, ...],
    chain: tuple[DhRow, ...],
    convention: Convention,
    T_base: Array,
    T_tip: Array,
    mounted: InstrumentModel | None,
) -> tuple[LinkModel, ...]:
    """The links: those of the file, or one for each row; then the instrument's or the tip."""
    if "tree" in node:
        tree = node["tree"]
        tree.keys(("links",), ("instrument_mount",))
        links = read_links(tree["links"], {joint.name: joint for joint in joints})
        mount = tree["instrument_mount"].text() if "instrument_mount" in tree else links[-1].name
        if all(link.name != mount for link in links):
            raise tree["instrument_mount"].error(f"unknown link {mount!r}")
    else:
        rows = dict(zip((f"{row}_link" for row in node["chain"].mapping()), chain, strict=True))
        links = [root_link(), *chain_links(rows, convention, ROOT, T_base)]
        mount = links[-1].name
    links = attach_inertials(node, links)
    if mounted is not None:
        links += [replace(mounted.links[0], parent=mount), *mounted.links[1:]]
    elif all(link.name != TIP for link in links):
        links.append(LinkModel(TIP, mount, T_tip, frozen(np.eye(4))))
    return tuple(links)
