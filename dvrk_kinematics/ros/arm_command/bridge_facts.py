"""What a client must know about a bridge to speak its language; the bridge itself reports it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future

from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.models.model_files import model_name
from dvrk_kinematics.motion.limits import MotionLimits, make_motion_limits
from dvrk_kinematics.ros.common.joint_language import controller_language
from dvrk_kinematics.ros.common.patience import Patience, looking_at

__all__ = ["BridgeFacts", "ask_bridge"]

_NAMES = (
    "model",
    "instrument",
    "generation",
    "joint_prefix",
    "description_signs",
    "velocity_scale",
    "acceleration_scale",
)
_UNKNOWN = "_NODE_NAME_UNKNOWN_"
"""The graph's name for a node that it has only partly discovered."""
_BOUND_S = 30.0
_AGAIN_S = 1.0
"""After how long to repeat a request (s): rclpy's parameter services lose the answer to a client
that they have only partly discovered."""


@dataclass(frozen=True, slots=True)
class BridgeFacts:
    """One bridge.

    Attributes:
        node: Full name of its node.
        arm: The arm as it drives it.
        joint_prefix: Prefix of joints in joint_states, goals and jogs.
        limits: The joints' motion limits.
        turned: Joints whose sign in joint_states is opposite to the controller's, without the
            prefix. All values that this class returns, or that are sent with its names, have the
            controller's sign.
    """

    node: str
    arm: Arm
    joint_prefix: str
    limits: MotionLimits
    turned: tuple[str, ...] = ()

    @property
    def joint_names(self) -> list[str]:
        """Return the names that clients use for the arm's joints."""
        return [f"{self.joint_prefix}{name}" for name in self.arm.joint_names]

    def read_joints(self, message: Any) -> Array | None:
        """Read the arm's joint positions (rad, m), shape (n,); None if some are missing."""
        found = dict(zip(message.name, message.position, strict=False))
        names = self.joint_names
        if not all(name in found for name in names):
            return None
        signs = [self.sign_of(name) for name in self.arm.joint_names]
        return np.array([found[name] for name in names]) * signs

    def sign_of(self, joint: str) -> float:
        """Return 1 if a joint is shown with the controller's sign, -1 if with the opposite."""
        return -1.0 if joint in self.turned else 1.0

    @property
    def sent_names(self) -> list[str]:
        """Return the joint names for goals and jogs whose numbers are the controller's."""
        return list(controller_language(self.arm.joint_names).names)


def ask_bridge(node: Node, arm: str, patience: Patience) -> BridgeFacts:
    """Ask the bridge of an arm for its parameters.

    Args:
        node: A spinning node, in the bridge's namespace.
        arm: Name of the arm.
        patience: How to wait.

    Raises:
        CallFailed: The bridge does not report them.
        UnknownName: It drives an arm that is unknown here.
    """
    topic = f"bridge/{arm}/speed_scaling"
    is_there = looking_at(lambda: bool(_find_publishers(node, topic)))
    if not patience.wait(is_there, f"the publisher of {topic}", _BOUND_S):
        raise CallFailed(topic, _BOUND_S, "no publisher was found")
    name = _find_publishers(node, topic)[0]
    values = _ask(node, f"{name}/get_parameters", patience)
    model = load_arm(
        values["model"] or model_name(arm), values["instrument"] or None, values["generation"]
    )
    limits = make_motion_limits(model, values["velocity_scale"], values["acceleration_scale"])
    turned = tuple(values["description_signs"])
    return BridgeFacts(name, model, values["joint_prefix"], limits, turned)


def _find_publishers(node: Node, topic: str) -> list[str]:
    """Return the full names of the nodes that publish a topic, as far as known."""
    infos = node.get_publishers_info_by_topic(topic)
    return [
        f"{info.node_namespace.rstrip('/')}/{info.node_name}"
        for info in infos
        if info.node_name != _UNKNOWN
    ]


def _ask(node: Node, service: str, patience: Patience) -> dict[str, Any]:
    client = node.create_client(GetParameters, service)
    if not patience.wait(looking_at(client.service_is_ready), service, _BOUND_S):
        raise CallFailed(service, _BOUND_S, "no such service appeared")
    answered = threading.Event()
    answers: list[Any] = []
    asked_s = 0.0

    def hear(future: Future) -> None:
        answers.append(future.result())
        answered.set()

    def is_answered(timeout_s: float) -> bool:
        nonlocal asked_s
        if time.monotonic() - asked_s > _AGAIN_S:
            asked_s = time.monotonic()
            client.call_async(GetParameters.Request(names=list(_NAMES))).add_done_callback(hear)
        return answered.wait(timeout_s)

    if not patience.wait(is_answered, f"the answer of {service}", _BOUND_S):
        raise CallFailed(service, _BOUND_S, "no answer came")
    values = [parameter_value_to_python(value) for value in answers[0].values]
    return dict(zip(_NAMES, values, strict=True))
