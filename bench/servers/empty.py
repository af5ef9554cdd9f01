"""A service that does nothing, to compare with."""

from __future__ import annotations

import sys

from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.ros.common.run_node import run_node


def make_server() -> Node:
    """A node that answers at once."""
    node = Node("empty_server")
    node.create_service(Trigger, "empty", lambda _, response: response)
    return node


if __name__ == "__main__":
    sys.exit(run_node(make_server))
