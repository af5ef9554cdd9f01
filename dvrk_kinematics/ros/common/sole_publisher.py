"""A process that must be the only one of its kind: the bridge of an arm, or its simulator.

On one machine, a process claims the topics that it alone may publish. The claim is an abstract
socket: only one process can have it, and the system frees it however that process ends. So of two
that start together exactly one goes on, and neither waits for DDS discovery.
"""

from __future__ import annotations

import hashlib
import socket
import struct
from collections.abc import Iterable
from typing import Any

from rclpy.node import Node

from dvrk_kinematics.errors import AlreadyRunning, ModelError

__all__ = ["claim_frame", "claim_topic", "find_claimant", "find_elsewhere", "sole_topic"]

_claims: list[socket.socket] = []
"""Sockets kept until the process ends."""

_PEER = struct.Struct("3i")
"""Process, user and group at the other end of a socket."""

_HOST = slice(0, 4)
"""The part of an endpoint's gid that is the same for all processes of a machine (Fast DDS)."""


def claim_topic(node: Node, topic: str, what: str, does: str = "publishes") -> None:
    """Claim a topic of a node's domain and namespace, until this process ends.

    Args:
        node: The node that will publish it.
        topic: Its name, as the node writes it.
        what: The role of a process that publishes it, such as "bridge of PSM1".
        does: What the process does with the topic, if it does not publish it.

    Raises:
        AlreadyRunning: Another process on this machine has claimed it.
    """
    name = node.resolve_topic_name(topic)
    address = _address(node, name)
    if not _claim(address):
        raise AlreadyRunning(what, _find_process(address), name, does)


def sole_topic(arm: str, has_parts: bool = False) -> str:
    """Return the topic that an arm's bridge claims; setup joints, never commanded, have another.

    Args:
        arm: Name of the arm.
        has_parts: Whether the name stands for all setup joints of a cart.
    """
    return f"{arm}/joint_states" if has_parts else f"{arm}/servo_jp"


def find_claimant(node: Node, topic: str) -> int | None:
    """Find the id of the process on this machine that claims a topic; None if there is none.

    Args:
        node: A node of the same domain and namespace.
        topic: Its name, as the node writes it.
    """
    return _find_process(_address(node, node.resolve_topic_name(topic)))


def claim_frame(node: Node, frame: str, description: str) -> None:
    """Claim a frame on tf whose parent we publish, until this process ends.

    Args:
        node: The node that will publish it.
        frame: Its name.
        description: The URDF that it comes from.

    Raises:
        ModelError: Another process on this machine has claimed it.
    """
    address = _address(node, f"{node.resolve_topic_name('/tf')} {frame}")
    if not _claim(address):
        process = _find_process(address)
        raise ModelError(
            description,
            f"its root {frame!r} is the root of another arm's description, too"
            f"{'' if process is None else f' (process {process})'}, and cannot hang below both "
            "arms; name it otherwise, or start both with join:=base, or this one with join:=none",
        )


def _address(node: Node, name: str) -> str:
    domain = node.context.get_domain_id()
    digest = hashlib.sha256(f"{domain} {name}".encode()).hexdigest()
    return f"\0dvrk_kinematics/{digest}"


def _claim(address: str) -> bool:
    """Keep an address until the process ends; return whether it was free."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(address)
    except OSError:
        claim.close()
        return False
    claim.listen()
    _claims.append(claim)
    return True


def _find_process(address: str) -> int | None:
    """Find who claimed an address; None if it has since ended or is not listening yet."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(address)
            peer = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        except OSError:
            return None
    return int(_PEER.unpack(peer)[0])


def find_elsewhere(infos: Iterable[Any]) -> list[str]:
    """Return the names of a topic's publishers, if they are on more than one machine.

    Args:
        infos: The graph's information on its publishers, including our own.
    """
    found = list(infos)
    machines = {bytes(info.endpoint_gid)[_HOST] for info in found}
    if len(machines) < 2:
        return []
    return sorted(f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in found)
