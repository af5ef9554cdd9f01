"""A client of the trajectory server, and what it needs to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from bridge_client import BridgeClient
from dvrk_kinematics_interfaces.action import Move, TraceBlockO
from dvrk_kinematics_interfaces.msg import MotionStep
from geometry_msgs.msg import Point, Pose, PoseStamped
from rclpy.action import ActionClient
from rclpy.node import Node

from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms
from dvrk_kinematics.ros.client.calls import SentGoal, send_goal
from dvrk_kinematics.ros.common.conversions import matrix_to_pose, to_flat
from dvrk_kinematics.ros.common.stamps import write_stamp

TIMEOUT_S = 90.0
SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)
QUICK = {
    "speed": 0.03,
    "acceleration": 0.08,
    "angular_speed": 1.5,
    "angular_acceleration": 3.0,
}
"""Speeds of the tip that keep tests short (m/s, m/s^2, rad/s, rad/s^2)."""
CONTOUR_M, CONTOUR_RAD = 2e-6, 2e-6
STILL = 60


def make_processes(arms: Sequence[str], recordings: str, namespace: str = "") -> list[Process]:
    """Simulated arms, their bridges and the trajectory server."""
    return [
        simulated_arms(arms, namespace),
        *(
            Process("arm_bridge", namespace, f"bridge_{arm}", parameters={"arm": arm})
            for arm in arms
        ),
        Process(
            "trajectory_server",
            namespace,
            parameters={"arms": list(arms), "recordings": recordings},
        ),
    ]


class MotionClient(BridgeClient):
    """Sends goals to one arm, and hears all that is told of them.

    Args:
        node: A spinning node.
        arm: The arm's name.
        namespace: Where relative names begin.

    Attributes:
        told: Feedback of the goals sent from here.
    """

    def __init__(self, node: Node, arm: str = "PSM1", namespace: str = "") -> None:
        super().__init__(node, arm, namespace)
        self.told: list[Any] = []
        start = f"{namespace}/trajectory/{arm}" if namespace else f"trajectory/{arm}"
        self._move = ActionClient(node, Move, f"{start}/move")
        self._trace = ActionClient(node, TraceBlockO, f"{start}/trace_block_o")

    def send_move(self, *steps: Any, **fields: Any) -> SentGoal:
        """Send moves; ``start_ns`` says when to start."""
        return self._send(self._move, Move.Goal(steps=list(steps)), fields)

    def send_trace(self, **fields: Any) -> SentGoal:
        """Send a figure; ``start_ns`` says when to start, ``T`` and ``frame`` where it lies."""
        T = fields.pop("T", None)
        goal = TraceBlockO.Goal()
        goal.figure = PoseStamped(pose=Pose() if T is None else matrix_to_pose(T))
        goal.figure.header.frame_id = fields.pop("frame", "")
        goal.figure.pose.orientation.w *= fields.pop("quaternion_length", 1.0)
        corners = fields.pop("corners", ())
        goal.corners = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in corners]
        return self._send(self._trace, goal, fields)

    def move(self, *steps: Any, **fields: Any) -> Any:
        """Send moves and wait for the result."""
        return self.send_move(*steps, **fields).result(TIMEOUT_S)

    def trace(self, **fields: Any) -> Any:
        """Send a figure and wait for the result."""
        return self.send_trace(**fields).result(TIMEOUT_S)

    def go_home(self) -> None:
        """Go to where every test begins."""
        done = self.move(abs_j(START, speed=1.0, acceleration=1.0))
        assert done.status == SUCCEEDED, done.result.message
        self.wait_at("setpoint_js", START, 1e-9)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Check that nothing is sent to the arm during a with-block and a while after it.

        The while is the arm's own: it says where it is as often as it could have been commanded.
        """
        with self.commands.silence("servo_jp"):
            yield
            said = self.arm.heard["setpoint_js"]
            before = len(said)
            self.arm.wait("setpoint_js", lambda: len(said) >= before + STILL)

    def _send(self, client: ActionClient, goal: Any, fields: dict[str, Any]) -> SentGoal:
        write_stamp(goal.start, fields.pop("start_ns", 0))
        for name, value in fields.items():
            setattr(goal, name, value)
        return send_goal(client, goal, TIMEOUT_S, self.told.append)


START = np.array([0.1, -0.1, 0.12, 0.0, 0.2, 0.1])
"""Where tests with a PSM begin (rad, m): all joints and the wrist's depth well inside."""


def abs_j(q: Any, **fields: Any) -> Any:
    """A step to joint positions."""
    return MotionStep(kind=MotionStep.MOVE_ABS_J, jp=to_flat(np.asarray(q, float)), **fields)


def line(T: np.ndarray, frame: str = "tool", **fields: Any) -> Any:
    """A step along a straight line."""
    return _to_pose(MotionStep.MOVE_L, T, frame, {**QUICK, **fields})


def joints(T: np.ndarray, frame: str = "tool", **fields: Any) -> Any:
    """A step to a pose, all joints arriving together."""
    return _to_pose(MotionStep.MOVE_J, T, frame, fields)


def arc(via: Sequence[float], T: np.ndarray, frame: str = "tool", **fields: Any) -> Any:
    """A step along an arc through a point."""
    step = _to_pose(MotionStep.MOVE_C, T, frame, {**QUICK, **fields})
    step.via.position = Point(x=float(via[0]), y=float(via[1]), z=float(via[2]))
    return step


def _to_pose(kind: int, T: np.ndarray, frame: str, fields: dict[str, Any]) -> Any:
    return MotionStep(kind=kind, frame_id=frame, cp=matrix_to_pose(T), **fields)


def check_followed(response: Any) -> None:
    """Check that a motion arrived, and that the tip kept to its path all the way."""
    result = response.result
    assert response.status == SUCCEEDED and result.success, result.message
    error = result.error
    assert result.plan.ok and error.samples > 0
    assert 0.0 <= error.contour_position_rms <= error.contour_position_max <= CONTOUR_M, error
    assert 0.0 <= error.contour_rotation_rms <= error.contour_rotation_max <= CONTOUR_RAD, error
    assert error.lag_mean <= error.lag_max < TIMEOUT_S


def check_refused(response: Any, words: str) -> None:
    """Check that a goal was refused with words, and that its flight plan says so too."""
    result = response.result
    assert response.status == ABORTED and not result.success
    assert words in result.message, result.message
    assert not result.plan.ok and result.plan.reason
