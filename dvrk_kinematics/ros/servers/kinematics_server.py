"""The node kinematics_server: forward, inverse and differential kinematics as services."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.chain import chain_frame
from dvrk_kinematics.ros.common.conversions import matrix_to_pose, pose_to_matrix, to_flat
from dvrk_kinematics.ros.common.explain import explain
from dvrk_kinematics.ros.common.frame_listener import FrameListener
from dvrk_kinematics.ros.common.parameters import Parameters, parameter
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.sole_publisher import claim_topic
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.rclpy_ext.patient_answers import create_patient_service
from dvrk_kinematics.ros.servers.contract import SERVICES
from dvrk_kinematics.ros.servers.load_arms import ArmSettings, base_frame, load_arms
from dvrk_kinematics.ros.servers.solve_fk_and_differential import solve_differential, solve_fk
from dvrk_kinematics.ros.servers.solve_ik import solve_ik

__all__ = ["KinematicsServer", "KinematicsSettings", "main"]


@dataclass(frozen=True)
class KinematicsSettings(ArmSettings):
    """What a user can choose about the kinematics server."""

    frame_age: float = parameter(
        0.5,
        "oldest frame on tf that a pose may refer to",
        unit="s",
        minimum=0.01,
        maximum=10.0,
        read_only=True,
    )


class KinematicsServer(Node):
    """Offers the kinematics of any set of arms."""

    def __init__(self) -> None:
        super().__init__("kinematics_server")
        self._settings = Parameters(self, KinematicsSettings).values
        self._frames = FrameListener(self)
        for name, arm in load_arms(self._settings).items():
            self._offer(name, arm)
        self.get_logger().info(
            f"kinematics of {', '.join(self._settings.arms)}: services kinematics/<arm>/solve_ik, "
            "solve_fk, solve_differential, forward_kinematics, inverse_kinematics"
        )

    def _offer(self, name: str, arm: Arm) -> None:
        base, prefix = base_frame(name), f"{name}_"
        # Otherwise two servers would answer each request.
        claim_topic(self, f"kinematics/{name}", f"kinematics_server of {name}", "answers at")

        def resolve(header: Any) -> Array | None:
            return self._find_frame(header, base)

        answers: dict[str, Callable[[Any, Any], None]] = {
            "forward_kinematics": partial(_forward, arm),
            "inverse_kinematics": partial(_inverse, arm),
            "solve_fk": partial(solve_fk, arm, base, prefix),
            "solve_ik": partial(solve_ik, arm, resolve),
            "solve_differential": partial(solve_differential, arm, base),
        }
        for service, answer in answers.items():
            kind = SERVICES[service].service
            handle = self._explained(kind, answer)
            create_patient_service(self, kind, f"kinematics/{name}/{service}", handle)

    def _explained(
        self, kind: Any, answer: Callable[[Any, Any], None]
    ) -> Callable[[Any, Any], Any]:
        """Turn errors into a response that contains only the error message."""
        has_success = hasattr(kind.Response, "success")

        def handle(request: Any, response: Any) -> Any:
            try:
                answer(request, response)
            except Exception as error:
                return kind.Response(message=explain(error, self.get_logger()))
            if has_success:
                response.success = True
            return response

        return handle

    def _find_frame(self, header: Any, base: str) -> Array | None:
        frame = header.frame_id.lstrip("/")
        if frame in ("", base):
            return None
        return self._frames.lookup(
            base, frame, self._settings.frame_age, stamp_to_ns(header.stamp)
        )


def _forward(arm: Arm, request: Any, response: Any) -> None:
    """Answer CRTK's query: k joints yield frame k of the chain, all joints yield the tip."""
    jp = np.array(request.jp)
    count = len(arm.joint_names)
    if len(jp) > count:
        response.message = f"too many joints: {len(jp)}, the arm has {count}"
        return
    if not np.isfinite(jp).all():
        response.message = "jp holds NaN or infinity"
        return
    T = arm.forward(jp) if len(jp) == count else chain_frame(arm.model, jp.tolist())
    response.cp, response.result = matrix_to_pose(T), True


def _inverse(arm: Arm, request: Any, response: Any) -> None:
    """Answer CRTK's query: exact, near the seed, a success only inside the joint limits."""
    seed = np.array(request.jp) if len(request.jp) else None
    solved = arm.inverse(pose_to_matrix(request.cp), seed=seed)
    response.jp = to_flat(solved.q)
    response.result = solved.ok
    response.message = solved.reason


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is told to stop."""
    return run_node(KinematicsServer, arguments, executable="kinematics_server")


if __name__ == "__main__":
    sys.exit(main())
