"""Publishes an arm's state as a dVRK does, and answers for no parameter of an arm_simulator.

usage: stand_in_dvrk.py NAMESPACE ARM [NODE [sticks]]

With ``sticks`` it is not homed, and once it is told to, it says that it is busy for ever.
"""

from __future__ import annotations

import sys

import rclpy
from crtk_msgs.msg import OperatingState, StringStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, String

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.common import qos

PERIOD_S = 0.005


class StandIn(Node):
    """An arm that is ENABLED and never moves."""

    def __init__(self, namespace: str, arm: str, name: str, sticks: bool) -> None:
        super().__init__(name, namespace=namespace)
        self._state = JointState(name=list(load_arm("PSM").joint_names))
        self._state.position = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]
        self._streams = [
            self.create_publisher(JointState, f"{arm}/{topic}", qos.ARM_STATE)
            for topic in ("measured_js", "setpoint_js")
        ]
        self._operating_state = self.create_publisher(
            OperatingState, f"{arm}/operating_state", qos.EVENT
        )
        self._operating_state.publish(OperatingState(state="ENABLED", is_homed=not sticks))
        tool_type = self.create_publisher(String, f"{arm}/tool_type", qos.EVENT)
        tool_type.publish(String(data="LARGE_NEEDLE_DRIVER:400006[..]"))
        # A real arm hears its commands, so that nothing is left unsaid for want of a listener.
        for topic, kind in (
            ("servo_jp", JointState),
            ("hold", Empty),
            ("jaw/servo_jp", JointState),
        ):
            self.create_subscription(kind, f"{arm}/{topic}", lambda _: None, qos.COMMAND)
        hear = self._stick if sticks else lambda _: None
        self.create_subscription(StringStamped, f"{arm}/state_command", hear, qos.COMMAND)
        self.create_timer(PERIOD_S, self._publish)

    def _stick(self, command: StringStamped) -> None:
        if command.string == "home":
            state = OperatingState(state="ENABLED", is_homed=True, is_busy=True)
            self._operating_state.publish(state)

    def _publish(self) -> None:
        self._state.header.stamp = self.get_clock().now().to_msg()
        for stream in self._streams:
            stream.publish(self._state)


def main(namespace: str, arm: str, name: str = "dvrk_system", sticks: str = "") -> None:
    """Run until told to stop."""
    rclpy.init(args=[])
    node = StandIn(namespace, arm, name, bool(sticks))
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        node.destroy_node()


if __name__ == "__main__":
    main(*sys.argv[1:])
