"""Clients of nodes: call services, send goals, wait with patience, and shut down in order."""

from dvrk_kinematics.ros.client.calls import SentGoal, call, send_goal
from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine, HeardDiagnostics
from dvrk_kinematics.ros.client.run_client import run_client, run_with_node
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.patience import PATIENT, Patience, looking_at
from dvrk_kinematics.ros.common.stamps import ns_to_stamp, stamp_to_ns, write_stamp
from dvrk_kinematics.ros.rclpy_ext.server_watch import ServerWatch

__all__ = [
    "PATIENT",
    "DiagnosticLine",
    "HeardDiagnostics",
    "Patience",
    "SentGoal",
    "ServerWatch",
    "call",
    "looking_at",
    "ns_to_stamp",
    "qos",
    "run_client",
    "run_with_node",
    "send_goal",
    "stamp_to_ns",
    "write_stamp",
]
