"""A process of its own for the smoke test: a message, a service and an action of our own types."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from crtk_msgs.msg import OperatingState
from dvrk_kinematics_interfaces.action import TraceBlockO
from dvrk_kinematics_interfaces.srv import SolveFk
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import flat_to_rows, to_flat
from dvrk_kinematics.ros.common.run_node import run_node


class SmokeServer(Node):
    """Publishes one latched state, doubles what it is asked, and counts ticks."""

    def __init__(self) -> None:
        super().__init__("smoke_server")
        self.state = self.create_publisher(OperatingState, "operating_state", qos.EVENT)
        self.state.publish(OperatingState(state="ENABLED", is_homed=True))
        self.create_service(SolveFk, "solve_fk", self.answer)
        self.countdown = ActionServer(
            self,
            TraceBlockO,
            "countdown",
            self.count,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def answer(self, request: Any, response: Any) -> Any:
        """Each row of two joints becomes a row of twice as much, padded to a pose."""
        rows = flat_to_rows(request.jp, 2, "jp")
        response.cp = to_flat(np.pad(2.0 * rows, ((0, 0), (0, 5))))
        response.status = to_flat(np.zeros(len(rows)), "B")
        response.success = True
        return response

    async def count(self, goal: Any) -> Any:
        """Tell each tick; stop when cancelled."""
        done = 0
        while done < goal.request.repeat and not goal.is_cancel_requested:
            done += 1
            goal.publish_feedback(TraceBlockO.Feedback(progress=float(done)))
        if goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.succeed()
        return TraceBlockO.Result(slow_downs=done)


def say_goodbye(node: SmokeServer) -> None:
    """Show that a node can still publish when it is told to stop."""
    node.state.publish(OperatingState(state="DISABLED"))
    node.state.wait_for_all_acked(Duration(seconds=10))


if __name__ == "__main__":
    sys.exit(run_node(SmokeServer, on_stop=say_goodbye))
