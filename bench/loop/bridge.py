"""A stand-in for the bridge: state in, joint states, tf and servo_jp out, goals beside it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer
from rclpy.node import Node
from std_srvs.srv import Trigger

from bench.loop.edges import JOINTS, LINKS, Edge, make_edge
from bench.loop.stand_in import StandIn, run_stand_in
from bench.loop.ticks import TickRecorder
from dvrk_kinematics.ros.common.conversions import trajectory_to_knots
from dvrk_kinematics.ros.common.steady_loop import Tick


class ArmBridge:
    """The work for one arm in each tick."""

    def __init__(self, node: Node, arm: str, edge: Edge) -> None:
        self.measured = edge.joint_reader(node, f"{arm}/measured_js")
        self.servo_jp = edge.joint_writer(node, f"{arm}/servo_jp")
        self.joint_states = edge.joint_writer(node, f"{arm}/joint_states")
        self.transforms = edge.transform_writer(node, arm)
        self.rows = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (LINKS, 1))
        self.actions = ActionServer(
            node, FollowJointTrajectory, f"bridge/{arm}/follow_joint_trajectory", self.follow
        )
        node.create_service(Trigger, f"bridge/{arm}/hold", self.hold)

    def tick(self, tick: Tick, now_ns: int) -> None:
        """One turn: a command, the state, and the links."""
        self.measured.poll()
        position, velocity = self.measured.position, self.measured.velocity
        self.servo_jp.publish(position + 1e-6 * np.sin(1e-3 * tick.number), velocity, now_ns)
        self.joint_states.publish(position, velocity, now_ns)
        self.rows[:, 0] = position[0]
        self.transforms.publish(self.rows, now_ns)

    async def follow(self, goal: Any) -> Any:
        """Read a goal as a player would, and finish it."""
        knots = trajectory_to_knots(goal.request.trajectory, JOINTS)
        goal.succeed()
        return FollowJointTrajectory.Result(error_string=str(len(knots.times_ns)))

    def hold(self, _: Any, response: Any) -> Any:
        """Answer at once."""
        response.success = self.measured.count > 0
        return response


class StandInBridge(StandIn):
    """One loop for all arms of the process."""

    def __init__(self, arms: list[str], edge: str, recorder: TickRecorder) -> None:
        super().__init__(f"stand_in_bridge_{arms[0]}", recorder)
        maker = make_edge(edge)
        self.arms = [ArmBridge(self, arm, maker) for arm in arms]
        self.start()

    def serve(self, tick: Tick, now_ns: int) -> None:
        """Serve every arm."""
        for arm in self.arms:
            arm.tick(tick, now_ns)


if __name__ == "__main__":
    sys.exit(run_stand_in(StandInBridge, __doc__ or ""))
