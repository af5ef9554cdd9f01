"""A client in its own process: homes the arm, plays the figure through the bridge, and listens."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from bench.bridge.ear import Ear
from bench.bridge.figure import plan_figure
from bench.bridge.slider import SPEED, Slider
from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.planning.planner import Plan
from dvrk_kinematics.ros.client.calls import call, send_goal
from dvrk_kinematics.ros.common.conversions import to_flat
from dvrk_kinematics.ros.common.spinning_node import SpinningNode
from dvrk_kinematics.ros.common.stamps import write_stamp

ARM = "PSM1"
TIMEOUT_S = 60.0
_TRIES = 30
_WAY_RAD = 0.09
_SLOW_DOWNS = 5
_AHEAD_NS = 2_000_000_000
"""How long before its start a figure is sent, so that its start is known exactly."""


class Client:
    """Commands the bridge."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._follow = ActionClient(
            node, FollowJointTrajectory, f"bridge/{ARM}/follow_joint_trajectory"
        )

    def get_ready(self) -> None:
        """Enable and home; the bridge may not have found the arm yet."""
        for name in ("enable", "home"):
            client = self._node.create_client(Trigger, f"bridge/{ARM}/{name}")
            deadline = time.monotonic() + TIMEOUT_S
            while not (answer := call(client, Trigger.Request(), TIMEOUT_S)).success:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{name}: {answer.message}")
                time.sleep(0.25)

    def go(self, q: Array, seconds: float) -> None:
        """Go to joint positions; a machine that stalls for a while rightly stops that."""
        goal = self._goal(np.array([round(seconds * 1e9)]), q[None], None)
        for _ in range(_TRIES):
            result = send_goal(self._follow, goal, TIMEOUT_S).result(TIMEOUT_S).result
            if not result.error_code:
                return
            time.sleep(0.5)
        raise RuntimeError(result.error_string)

    def slow_down(self, slider: Slider, q: Array, times: int) -> list[float]:
        """Slow an even motion of the first joint repeatedly; return the latencies (s)."""
        found: list[float] = []
        ends = [q + np.eye(len(q))[0] * side * _WAY_RAD for side in (1.0, 0.0)]
        for k in range(times):
            goal = self._goal(np.array([round(_WAY_RAD / SPEED * 1e9)]), ends[k % 2][None], None)
            sent = send_goal(self._follow, goal, TIMEOUT_S)
            for _ in range(_SLOW_DOWNS):
                latency_s = slider.measure()
                found += [] if latency_s is None else [latency_s]
            sent.result(TIMEOUT_S)
        return found

    def play(self, plan: Plan, ear: Ear) -> dict[str, Any]:
        """Play a plan while listening; return when it began and how it ended."""
        spline = plan.spline
        goal = self._goal(plan.times_ns, spline.position, spline.velocity)
        goal.trajectory.header.frame_id = f"{ARM}_base"
        begin_ns = time.time_ns() + _AHEAD_NS
        write_stamp(goal.trajectory.header.stamp, begin_ns)
        sent = send_goal(self._follow, goal, TIMEOUT_S)
        ear.listen(2.0 + plan.duration_s + 0.5)
        result = sent.result(TIMEOUT_S).result
        return {"begin_ns": begin_ns, "error": result.error_code, "text": result.error_string}

    def _goal(self, times_ns: Any, position: Array, velocity: Array | None) -> Any:
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(load_arm("PSM").joint_names)
        for k, time_ns in enumerate(times_ns):
            point = JointTrajectoryPoint(positions=to_flat(position[k]))
            if velocity is not None:
                point.velocities = to_flat(velocity[k])
            write_stamp(point.time_from_start, int(time_ns))
            goal.trajectory.points.append(point)
        return goal


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Play the figure, then repeat it to measure memory."""
    plan = plan_figure(load_arm("PSM"), options.seconds)
    rclpy.init(args=[])
    node = Node("bench_client")
    topics = {
        "measured_js": (JointState, f"{ARM}/measured_js"),
        "joint_states": (JointState, f"{ARM}/joint_states"),
        "setpoint_cp": (PoseStamped, f"{ARM}/setpoint_cp"),
        "tf": (TFMessage, "/tf"),
    }
    try:
        ear = Ear(node, topics)
        with SpinningNode(node):
            client = Client(node)
            client.get_ready()
            stops: list[str] = []
            for _ in range(options.tries):
                client.go(plan.spline.position[0], 5.0)
                ear.clear()
                window = [time.monotonic_ns()]
                report = client.play(plan, ear)
                window.append(time.monotonic_ns())
                if not report["error"]:
                    break
                stops.append(report["text"])
            ear.save(options.heard)
            slider = Slider(node, ARM)
            latencies = client.slow_down(slider, plan.spline.position[-1], options.slow_downs)
            end = time.monotonic() + 60.0 * options.minutes
            while time.monotonic() < end:
                client.go(plan.spline.position[0], 5.0)
                ear.clear()
                client.play(plan, ear)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    heard = {"seconds": plan.duration_s, "stops": stops, "slow_down_s": latencies}
    return report | heard | {"window_ns": window}


def main() -> int:
    """Run once and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the figure")
    parser.add_argument("--tries", type=int, default=1, help="how often to begin, if stopped")
    parser.add_argument("--minutes", type=float, default=0.0, help="how long to repeat it")
    parser.add_argument("--slow-downs", type=int, default=20, help="motions that are slowed")
    parser.add_argument("--heard", type=Path, required=True, help="file for what was heard")
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    options.report.write_text(json.dumps(run(options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
