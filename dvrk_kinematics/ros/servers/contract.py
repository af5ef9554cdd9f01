"""The graph interface of the two servers for each of their arms, as one table.

The nodes and their cards are built from it, and a test compares it with running servers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from control_msgs.msg import SpeedScalingFactor
from crtk_msgs.srv import QueryForwardKinematics, QueryInverseKinematics
from dvrk_kinematics_interfaces.action import Move, TraceBlockO
from dvrk_kinematics_interfaces.msg import FlightPlan
from dvrk_kinematics_interfaces.srv import SolveDifferential, SolveFk, SolveIk
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory

from dvrk_kinematics.ros.bridge.contract import BridgeAction, BridgeTopic
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.frame_listener import FRAME_TOPICS

__all__ = ["ACTIONS", "FRAMES", "PUBLISHED", "SERVICES", "SUBSCRIBED", "ServerService"]

_TRAJECTORY: Final = "trajectory/<arm>"


@dataclass(frozen=True, slots=True)
class ServerService:
    """A service of the kinematics server, below ``kinematics/<arm>``.

    Attributes:
        service: Its type.
        meaning: What it returns.
    """

    service: Any
    meaning: str


SERVICES: Final = {
    "forward_kinematics": ServerService(
        QueryForwardKinematics, "CRTK: all joints give the tip, the first k of them frame k"
    ),
    "inverse_kinematics": ServerService(
        QueryInverseKinematics, "CRTK: exact, near the seed; result is false outside limits"
    ),
    "solve_fk": ServerService(SolveFk, "tips of N joint vectors, and every link on request"),
    "solve_ik": ServerService(SolveIk, "joint positions of N poses in any frame, each judged"),
    "solve_differential": ServerService(
        SolveDifferential, "velocities and accelerations both ways, Jacobians, for N rows"
    ),
}

MOVE: Final = BridgeAction(
    f"{_TRAJECTORY}/move", Move, "one move, a series of them, or a recording"
)
TRACE_BLOCK_O: Final = BridgeAction(
    f"{_TRAJECTORY}/trace_block_o", TraceBlockO, "the Block-O or a polygon, placed or given"
)
ACTIONS: Final = (MOVE, TRACE_BLOCK_O)

FLIGHT_PLAN: Final = BridgeTopic(
    f"{_TRAJECTORY}/flight_plan",
    FlightPlan,
    qos.DESCRIPTION,
    "of the newest goal that could be planned",
)
PLANNED_PATH: Final = BridgeTopic(
    f"{_TRAJECTORY}/planned_path",
    JointTrajectory,
    qos.DESCRIPTION,
    "the knots of the newest motion, without the way to its start: when it is sent, and once more "
    "with the time at which it began",
)
PUBLISHED: Final = (FLIGHT_PLAN, PLANNED_PATH)

SETPOINT_JS: Final = BridgeTopic(
    "<arm>/setpoint_js",
    JointState,
    qos.STATE_READER,
    "where a motion begins: where the arm was told to be",
)
MEASURED_JS: Final = BridgeTopic(
    "<arm>/measured_js", JointState, qos.ARM_STATE, "compared with the path while it moves"
)
SPEED_SCALING: Final = BridgeTopic(
    "bridge/<arm>/speed_scaling",
    SpeedScalingFactor,
    qos.SPEED_SCALING,
    "part of its planned speed at which the bridge plays a motion",
)
SUBSCRIBED: Final = (SETPOINT_JS, MEASURED_JS, SPEED_SCALING)

FRAMES: Final = (
    BridgeTopic("/tf", TFMessage, FRAME_TOPICS["/tf"], "frames that move"),
    BridgeTopic("/tf_static", TFMessage, FRAME_TOPICS["/tf_static"], "frames that do not"),
)
"""Topics to which both servers subscribe."""
