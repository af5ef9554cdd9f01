"""Instruments: found by number or name, read from instruments.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.dh_rows import read_chain, read_joint, read_joints
from dvrk_kinematics.models.inertials import attach_inertials
from dvrk_kinematics.models.links import instrument_links
from dvrk_kinematics.models.pid_tolerance import COUPLED_AXES, coupled_axis
from dvrk_kinematics.models.read_yaml import Node, merge
from dvrk_kinematics.models.schema import InstrumentModel, JointModel

__all__ = ["find_instrument", "instrument_names", "read_instrument"]

_REQUIRED = ("generation", "ik", "joints", "chain", "tip", "jaw_length")
_OPTIONAL = ("like", "jaw", "jaw_origin", "coupling", "inertials")
_WORST_COUPLING = 1e6
"""Condition number of a coupling; for real instruments it is below 10."""
_NUMBER = re.compile(r"_(\d{6}(?:_[A-Z]+)?)$")


def instrument_names(file: Node) -> tuple[str, ...]:
    """The full names of all instruments, in the order of the file."""
    return tuple(file["instruments"].mapping())


def find_instrument(file: Node, name: str) -> str:
    """The full name of an instrument given by number or name, in any case.

    Raises:
        UnknownName: If it is unknown; lists the names that exist.
    """
    wanted = str(name).upper()
    for full in instrument_names(file):
        match = _NUMBER.search(full)
        if full.upper() == wanted or (match and match.group(1) == wanted):
            return full
    raise UnknownName("instrument", str(name), instrument_names(file))


def _resolve(file: Node, entry: Node) -> dict[str, Any]:
    """An entry merged over the entry it is like, and so on in turn."""
    layers = [entry.mapping()]
    seen: dict[str, None] = {}
    while "like" in layers[-1]:
        like = entry["like"].text()
        if like in seen:
            raise entry["like"].error(f"goes in a circle: {' -> '.join((*seen, like))}")
        seen[like] = None
        groups = [file[group] for group in ("families", "instruments")]
        group = next((group for group in groups if like in group), None)
        if group is None:
            known = [name for group in groups for name in group.mapping()]
            raise entry["like"].error(f"unknown {like!r}; valid: {', '.join(known)}")
        entry = group[like]
        layers.append(entry.mapping())
    result: dict[str, Any] = {}
    for layer in reversed(layers):
        result = merge(result, layer)
    return result


def _read_coupling(file: Node, node: Node, joints: Sequence[JointModel]) -> Array | None:
    if "coupling" not in node:
        return None
    name = node["coupling"].text()
    couplings = file["couplings"]
    if name not in couplings:
        raise node["coupling"].error(
            f"unknown coupling {name!r}; valid: {', '.join(couplings.mapping())}"
        )
    for joint in joints:
        if coupled_axis(joint.name) is None:
            raise node["coupling"].error(
                f"couples {', '.join(COUPLED_AXES)}, but a joint is called {joint.name!r}"
            )
    coupling = couplings[name].matrix(4, 4)
    # Discs follow from joints by its inverse; a nearly singular one would turn a disc endlessly.
    if not np.linalg.cond(coupling) < _WORST_COUPLING:
        raise couplings[name].error("must be a matrix that can be inverted")
    return coupling


def read_instrument(file: Node, name: str, generation: str, mounted_on: str) -> InstrumentModel:
    """Reads one instrument.

    Args:
        file: The whole of instruments.yaml.
        name: Number or full name, in any case.
        generation: Generation of the arm it is mounted on.
        mounted_on: Name of that arm, for the error.

    Raises:
        UnknownName: If the instrument is unknown.
        InvalidInput: If it is made for another generation.
        ModelError: If its entry is wrong.
    """
    file.keys(("couplings", "families", "instruments"))
    full = find_instrument(file, name)
    entry = file["instruments"][full]
    node = Node(_resolve(file, entry), entry.file, entry.place)
    node.keys(_REQUIRED, _OPTIONAL)
    made_for = node["generation"].text()
    if made_for != generation:
        raise InvalidInput(
            "instrument", f"{full} fits the {made_for} {mounted_on}, not the {generation} one"
        )
    joints = read_joints(node["joints"])
    chain = read_chain(node["chain"], joints)
    jaw = read_joint("jaw", node["jaw"]) if "jaw" in node else None
    T_tip = node["tip"].pose()
    T_jaw = node["jaw_origin"].pose() if jaw else T_tip
    jaw_length = node["jaw_length"].number()
    links = instrument_links(chain, T_tip, jaw, T_jaw, jaw_length)
    number = _NUMBER.search(full)
    return InstrumentModel(
        name=full,
        number=number.group(1) if number else "",
        joints=joints,
        chain=chain,
        T_tip_offset=T_tip,
        jaw=jaw,
        jaw_length=jaw_length,
        links=tuple(attach_inertials(node, links)),
        coupling=_read_coupling(file, node, joints),
        ik=node["ik"].text(),
        source=f"{entry.file}: {full}",
    )
