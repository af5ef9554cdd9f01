"""A client of the kinematics server, and the arms that it answers for in these tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from crtk_msgs.srv import QueryForwardKinematics, QueryInverseKinematics
from dvrk_kinematics_interfaces.srv import SolveDifferential, SolveFk, SolveIk
from rclpy.node import Node

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common.conversions import to_flat

TIMEOUT_S = 40.0
ARMS = {
    "PSM1": load_arm("PSM", "400006"),
    "PSM2": load_arm("PSM", "400093"),
    "ECM": load_arm("ECM"),
    "RVM1": load_arm("RVM1"),
    "CYBER310": load_arm("CYBER310"),
}
SERVER = Process(
    "kinematics_server",
    parameters={"arms": list(ARMS), "instruments": ["PSM1:400006", "PSM2:400093"]},
)

SERVICES = {
    "forward_kinematics": QueryForwardKinematics,
    "inverse_kinematics": QueryInverseKinematics,
    "solve_fk": SolveFk,
    "solve_ik": SolveIk,
    "solve_differential": SolveDifferential,
}


class KinematicsClient:
    """Calls the services of any arm.

    Args:
        node: A spinning node.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._clients: dict[str, Any] = {}

    def ask(self, arm: str, service: str, **fields: Any) -> Any:
        """Call a service with the fields of its request, and wait for its answer.

        Args:
            arm: Name of the arm.
            service: One of ``SERVICES``.
            fields: Fields of the request; arrays of any shape are written row after row.
        """
        kind, name = SERVICES[service], f"kinematics/{arm}/{service}"
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name)
        flat = {
            key: to_flat(value) if isinstance(value, np.ndarray) else value
            for key, value in fields.items()
        }
        return call(self._clients[name], kind.Request(**flat), TIMEOUT_S)


def random_joints(arm: Arm, count: int, seed: int = 1) -> np.ndarray:
    """Joint vectors (rad, m) from the whole range, shape (count, n)."""
    return arm.random_q(np.random.default_rng(seed), count)


def rows(flat: Any, *shape: int) -> np.ndarray:
    """A flat field as rows of a shape."""
    return np.array(flat).reshape(-1, *shape)


def is_empty(answer: Any) -> bool:
    """Whether an answer holds nothing but its words."""
    names = [name for name in answer.get_fields_and_field_types() if name != "message"]
    return all(getattr(answer, name) == getattr(type(answer)(), name) for name in names)
