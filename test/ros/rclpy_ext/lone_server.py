"""A process with an action server and nothing else, for a test to kill."""

from __future__ import annotations

import sys

from control_msgs.action import FollowJointTrajectory
from rclpy.node import Node

from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer


class LoneServer(Node):
    """Takes goals and never ends one."""

    def __init__(self) -> None:
        super().__init__("lone_server")
        self.server = DeferredActionServer(
            self, FollowJointTrajectory, "lone/move", lambda *_: None
        )


if __name__ == "__main__":
    sys.exit(run_node(LoneServer))
