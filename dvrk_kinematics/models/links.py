"""The tree of an arm's links: read from its file, or made from its chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.dh_rows import DH_KEYS, dh_constants, read_dh
from dvrk_kinematics.models.read_yaml import Node
from dvrk_kinematics.models.schema import (
    Convention,
    DhRow,
    JointKind,
    JointModel,
    LinkModel,
    LoopPoint,
)

__all__ = [
    "ROOT",
    "TIP",
    "chain_links",
    "instrument_links",
    "read_links",
    "read_loops",
    "root_link",
]

ROOT = "base"
TIP = "tip"
_EYE = frozen(np.eye(4))


def root_link() -> LinkModel:
    """The link that does not move: the arm's base."""
    return LinkModel(ROOT, None, _EYE, _EYE)


def _dh_link(
    name: str, parent: str | None, row: DhRow, convention: Convention, T_before: Array = _EYE
) -> LinkModel:
    T_pre, T_post = dh_constants(row, convention)
    return LinkModel(
        name, parent, frozen(T_before @ T_pre), T_post, joint=row.joint, kind=row.kind
    )


def chain_links(
    rows: Mapping[str, DhRow], convention: Convention, parent: str | None, T_first: Array = _EYE
) -> list[LinkModel]:
    """One link for each row of a chain.

    Args:
        rows: Link names and their rows, in order.
        convention: Which matrix a row stands for.
        parent: The link that carries the first one, None if not known yet.
        T_first: Constant between that link and frame 0 of the chain, shape (4, 4).
    """
    links: list[LinkModel] = []
    T_before = T_first
    for name, row in rows.items():
        links.append(_dh_link(name, parent, row, convention, T_before))
        parent, T_before = name, _EYE
    return links


def instrument_links(
    chain: Sequence[DhRow], T_tip: Array, jaw: JointModel | None, T_jaw: Array, jaw_length: float
) -> list[LinkModel]:
    """Shaft, wrist, the jaws' pin and halves, the controller's tip and the end of the jaws.

    The first has no parent yet: it is mounted on an arm later.
    """
    rows = {f"{row.joint}_link": row for row in chain}
    links = chain_links(rows, Convention.MODIFIED, None)
    last = links[-1].name
    if jaw is not None:
        # The pin turns by the whole opening, so that a joint of the jaw's own name exists.
        for part, factor in (("", 1.0), ("_left", 0.5), ("_right", -0.5)):
            name = f"jaw{part}_link"
            links.append(LinkModel(name, last, T_jaw, _EYE, jaw.name, jaw.kind, factor))
    end = frozen(se3.translation([0.0, 0.0, jaw_length]))
    return [*links, LinkModel(TIP, last, T_tip, _EYE), LinkModel("jaw_tip", TIP, end, _EYE)]


def read_links(node: Node, joints: Mapping[str, JointModel]) -> list[LinkModel]:
    """Reads the tree of a linkage; every link names a parent listed above it.

    Raises:
        ModelError: If a parent or joint is unknown, or a link has a multiplier but no joint.
    """
    links = [root_link()]
    known = {ROOT}
    for name, entry in node.items():
        optional = ("frame", "joint", "multiplier")
        dh = "xyz" not in entry
        entry.keys(("parent", *DH_KEYS) if dh else ("parent", "xyz"), optional)
        parent = entry["parent"].text()
        if parent not in known:
            raise entry["parent"].error(
                f"unknown link {parent!r}; a parent stands above: {', '.join(known)}"
            )
        joint = _mimicked(entry, joints)
        if dh:
            T_pre, T_post = dh_constants(read_dh(entry, joint), Convention.MODIFIED)
        else:
            T_pre, T_post = frozen(se3.translation(entry["xyz"].numbers(3))), _EYE
        links.append(
            LinkModel(
                name,
                parent,
                T_pre,
                T_post,
                joint=joint.name if joint else None,
                kind=joint.kind if joint else JointKind.FIXED,
                multiplier=entry["multiplier"].number() if "multiplier" in entry else 1.0,
                frame=int(entry["frame"].number()) if "frame" in entry else None,
            )
        )
        known.add(name)
    return links


def _mimicked(entry: Node, joints: Mapping[str, JointModel]) -> JointModel | None:
    if "joint" not in entry:
        if "multiplier" in entry:
            raise entry.error("has a multiplier but no joint")
        return None
    name = entry["joint"].text()
    if name not in joints:
        raise entry["joint"].error(f"unknown joint {name!r}; valid: {', '.join(joints)}")
    return joints[name]


def read_loops(node: Node, links: Sequence[LinkModel]) -> tuple[LoopPoint, ...]:
    """Reads the pivots that close the loops: each one point, given in two links."""
    names = [link.name for link in links]
    loops = []
    for name, entry in node.items():
        ends = list(entry.items())
        if len(ends) != 2:
            raise entry.error(f"needs the point in two links, has {len(ends)}")
        for link, place in ends:
            if link not in names:
                raise place.error(f"unknown link {link!r}; valid: {', '.join(names)}")
        (link_a, a), (link_b, b) = ends
        loops.append(LoopPoint(name, link_a, frozen(a.numbers(3)), link_b, frozen(b.numbers(3))))
    return tuple(loops)
