"""A node that asks the kinematics server for joint positions, in any frame on tf.

Run it beside a server:  ./dvrk python -m dvrk_kinematics.ros.executables kinematics_server &
                         ./dvrk python examples/02_ik_from_another_node.py
"""

from __future__ import annotations

import sys

from dvrk_kinematics_interfaces.srv import SolveIk
from rclpy.node import Node

from dvrk_kinematics.ros.client import call, run_client

STATUS = (
    "ok",
    "outside limits",
    "unreachable",
    "position unreachable",
    "not converged",
    "no pose",
)


def ask(node: Node) -> None:
    """Ask for joint positions at poses, and print them."""
    solve_ik = node.create_client(SolveIk, "kinematics/PSM1/solve_ik")

    # A pose is x y z (m) and a quaternion; any number of them goes into one request.
    down = (0.0, 1.0, 0.0, 0.0)
    request = SolveIk.Request(
        cp=[0.0, 0.0, -0.1, *down, 0.02, 0.0, -0.12, *down, 0.0, 0.0, -0.4, *down],
        seed=[0.0, 0.0, 0.12, 0.0, 0.0, 0.0],
    )
    answer = call(solve_ik, request)
    n = len(answer.joint_names)
    for i, status in enumerate(answer.status):
        joints = ", ".join(f"{value:.4f}" for value in answer.jp[i * n : (i + 1) * n])
        # Bit j of violations stands for joint j.
        outside = [
            name for j, name in enumerate(answer.joint_names) if answer.violations[i] >> j & 1
        ]
        print(f"pose {i}: {STATUS[status]} [{joints}]", *outside)

    # Where limits forbid the pose, the position can be kept and the orientation given up.
    tilted = [0.0, 0.0, -0.1, 0.0, 0.7071068, 0.0, 0.7071068]
    request = SolveIk.Request(cp=tilted, policy=SolveIk.Request.POLICY_POSITION_FIRST)
    answer = call(solve_ik, request)
    print(f"position first: {STATUS[answer.status[0]]}, {answer.rotation_error[0]:.3f} rad off")

    # What cannot be read is refused as a whole, with the reason.
    request.header.frame_id = "nowhere"
    print("refused:", call(solve_ik, request).message)


sys.exit(run_client("asker", ask))
