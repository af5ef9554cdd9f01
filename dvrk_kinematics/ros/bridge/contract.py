"""What a bridge is on the graph: topics, services and actions of one arm, as one table.

The node card is made from it, and a test compares it with a bridge that runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import JointJog, SpeedScalingFactor
from crtk_msgs.msg import OperatingState, StringStamped
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from dvrk_kinematics.ros.bridge.other_clients import HEARD, HEARD_OF_THE_JAW, TOLD_DEPTH
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.frame_listener import QUEUE

__all__ = ["ACTIONS", "PUBLISHED", "SUBSCRIBED", "BridgeAction", "BridgeTopic"]

_ARM: Final = "<arm>"
_BRIDGE: Final = "bridge/<arm>"


@dataclass(frozen=True, slots=True)
class BridgeTopic:
    """A topic of a bridge.

    Attributes:
        name: Its name; ``<arm>`` stands for the arm's.
        message: Its type.
        profile: Its quality of service.
        meaning: What it says.
        only: Which arms have it: "jaw", "tool", or empty for all.
    """

    name: str
    message: Any
    profile: QoSProfile
    meaning: str
    only: str = ""


@dataclass(frozen=True, slots=True)
class BridgeAction:
    """An action of a bridge; fields as in :class:`BridgeTopic`."""

    name: str
    action: Any
    meaning: str
    only: str = ""


_TOLD: Final = qos.with_depth(qos.COMMAND, TOLD_DEPTH)


def _heard(name: str) -> str:
    what = "one of somebody else stops a motion along its path"
    return what if name == "hold" else "one of somebody else silences us"


PUBLISHED: Final = (
    BridgeTopic(
        f"{_ARM}/joint_states",
        JointState,
        qos.STATE,
        "every joint of the URDF that moves, with the stamp of measured_js",
    ),
    BridgeTopic("/tf", TFMessage, qos.TF, "every link that moves in its parent, same stamp"),
    BridgeTopic("/tf_static", TFMessage, qos.TF_STATIC, "the others, and what joins the trees"),
    BridgeTopic(f"{_ARM}/robot_description", String, qos.DESCRIPTION, "the URDF, once"),
    BridgeTopic(
        f"{_BRIDGE}/not_homed",
        Marker,
        qos.DESCRIPTION,
        "a text for RViz, until the arm has shown valid joints",
    ),
    BridgeTopic(
        f"{_BRIDGE}/speed_scaling",
        SpeedScalingFactor,
        qos.SPEED_SCALING,
        "part of their planned speed at which motions are played now, when it changes",
    ),
    BridgeTopic("/diagnostics", DiagnosticArray, qos.STATE, "once a second"),
    BridgeTopic(f"{_ARM}/servo_jp", JointState, qos.COMMAND, "to the arm: setpoints"),
    BridgeTopic(f"{_ARM}/jaw/servo_jp", JointState, qos.COMMAND, "to the arm: the jaw", "jaw"),
    BridgeTopic(f"{_ARM}/hold", Empty, qos.COMMAND, "to the arm: stay at the setpoint"),
    BridgeTopic(
        f"{_ARM}/state_command", StringStamped, qos.COMMAND, "to the arm: enable, home, ..."
    ),
)

SUBSCRIBED: Final = (
    BridgeTopic(f"{_BRIDGE}/jog", TwistStamped, qos.COMMAND, "velocity of the tip"),
    BridgeTopic(f"{_BRIDGE}/jog_joints", JointJog, qos.COMMAND, "velocities of joints"),
    BridgeTopic(
        f"{_BRIDGE}/speed_scaling_input",
        SpeedScalingFactor,
        qos.SPEED_SCALING,
        "part of their planned speed at which motions shall be played, 0 to 1; 0 pauses them",
    ),
    BridgeTopic(f"{_ARM}/measured_js", JointState, qos.STATE_READER, "where the joints are"),
    BridgeTopic(f"{_ARM}/setpoint_js", JointState, qos.STATE_READER, "where they were told to be"),
    BridgeTopic(f"{_ARM}/jaw/measured_js", JointState, qos.STATE_READER, "the jaw", "jaw"),
    BridgeTopic(f"{_ARM}/jaw/setpoint_js", JointState, qos.STATE_READER, "its setpoint", "jaw"),
    BridgeTopic(f"{_ARM}/operating_state", OperatingState, qos.EVENT, "state of the arm"),
    BridgeTopic(f"{_ARM}/error", String, qos.EVENT, "an error of the arm freezes a motion"),
    BridgeTopic(f"{_ARM}/tool_type", String, qos.EVENT, "its instrument", "tool"),
    BridgeTopic(
        f"{_ARM}/set_tool_type",
        String,
        qos.with_depth(qos.COMMAND, 10),
        "what somebody tells it to have counts at once",
        "tool",
    ),
    *(
        BridgeTopic(f"{_ARM}/{name}", message, _TOLD, _heard(name))
        for name, message in HEARD.items()
    ),
    *(
        BridgeTopic(f"{_ARM}/{name}", message, _TOLD, _heard(name), "jaw")
        for name, message in HEARD_OF_THE_JAW.items()
    ),
    BridgeTopic("/tf", TFMessage, qos.with_depth(qos.TF, QUEUE), "frames that a jog may refer to"),
    BridgeTopic(
        "/tf_static", TFMessage, qos.with_depth(qos.TF_STATIC, QUEUE), "those that do not move"
    ),
)
"""tf and tf_static are heard once more for a moment when somebody new publishes them: whether that
are our links.
"""

ACTIONS: Final = (
    BridgeAction(
        f"{_BRIDGE}/follow_joint_trajectory",
        FollowJointTrajectory,
        "plays a trajectory; one at a time, a new one replaces it without a stop",
    ),
    BridgeAction(
        f"{_BRIDGE}/gripper_cmd", ParallelGripperCommand, "opens or closes the jaw", "jaw"
    ),
)
