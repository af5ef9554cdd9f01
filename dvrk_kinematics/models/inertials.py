"""Mass distributions of links, and the refusal of physically impossible ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dvrk_kinematics.geometry.arrays import frozen
from dvrk_kinematics.models.read_yaml import Node
from dvrk_kinematics.models.schema import Inertial, LinkModel

__all__ = ["attach_inertials", "read_inertials"]


def read_inertials(node: Node) -> dict[str, Inertial]:
    """Reads the masses of the links.

    Raises:
        ModelError: If a mass or inertia is physically impossible.
    """
    inertials = {}
    for name, entry in node.items():
        entry.keys(("mass", "com", "inertia", "source"))
        xx, yy, zz, xy, xz, yz = entry["inertia"].numbers(6)
        inertia = frozen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        moments = np.linalg.eigvalsh(inertia)
        mass = entry["mass"].number()
        if mass <= 0.0 or moments[0] <= 0.0 or moments[0] + moments[1] < moments[2]:
            raise entry.error(
                f"no body has mass {mass} kg and principal moments {moments.tolist()} kg m^2"
            )
        com = frozen(entry["com"].numbers(3))
        inertials[name] = Inertial(mass, com, inertia, entry["source"].text())
    return inertials


def attach_inertials(node: Node, links: Sequence[LinkModel]) -> list[LinkModel]:
    """The links with their masses, if the node has any.

    Args:
        node: An arm or instrument, which may have an ``inertials`` entry.
        links: Its links.

    Raises:
        ModelError: If a mass belongs to no link.
    """
    if "inertials" not in node:
        return list(links)
    names = [link.name for link in links]
    inertials = read_inertials(node["inertials"])
    for name in inertials:
        if name not in names:
            raise node["inertials"].error(f"unknown link {name!r}; valid: {', '.join(names)}")
    return [replace(link, inertial=inertials.get(link.name)) for link in links]
