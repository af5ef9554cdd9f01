"""The graph interface of a bridge: topics, services and actions of one arm, as one table.

The bridge creates its interface from it, the node card is built from it, and a test compares it
with a running bridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import JointJog, SpeedScalingFactor
from crtk_msgs.msg import CartesianImpedance, CartesianState, OperatingState, StringStamped
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.frame_listener import FRAME_TOPICS

__all__ = ["ACTIONS", "FOREIGN_COMMANDS", "PUBLISHED", "SUBSCRIBED", "BridgeAction", "BridgeTopic"]

_ARM: Final = "<arm>"
_BRIDGE: Final = "bridge/<arm>"


@dataclass(frozen=True, slots=True)
class BridgeTopic:
    """A topic of a bridge.

    Attributes:
        name: Its name; ``<arm>`` stands for the arm's.
        message: Its type.
        profile: Its quality of service.
        meaning: Its content.
        only: Which arms have it: "jaw", "tool", or empty for all.
    """

    name: str
    message: Any
    profile: QoSProfile
    meaning: str
    only: str = ""

    def name_of(self, arm: str) -> str:
        """Its name on the graph for an arm."""
        return self.name.replace(_ARM, arm)

    def of(self, arm: str) -> tuple[Any, str, QoSProfile]:
        """Arguments for an arm's publisher or subscription: type, name, quality of service."""
        return self.message, self.name_of(arm), self.profile


@dataclass(frozen=True, slots=True)
class BridgeAction:
    """An action of a bridge; fields as in :class:`BridgeTopic`."""

    name: str
    action: Any
    meaning: str
    only: str = ""

    def name_of(self, arm: str) -> str:
        """Its name on the graph for an arm."""
        return self.name.replace(_ARM, arm)

    def of(self, arm: str) -> tuple[Any, str]:
        """Arguments for an arm's server or client: type and name."""
        return self.action, self.name_of(arm)


JOINT_STATES: Final = BridgeTopic(
    f"{_ARM}/joint_states",
    JointState,
    qos.STATE,
    "every joint of the URDF that moves, with the stamp of measured_js",
)
TF: Final = BridgeTopic(
    "/tf", TFMessage, qos.TF, "every link that moves in its parent, same stamp"
)
TF_STATIC: Final = BridgeTopic(
    "/tf_static", TFMessage, qos.TF_STATIC, "the others, and what joins the trees"
)
ROBOT_DESCRIPTION: Final = BridgeTopic(
    f"{_ARM}/robot_description", String, qos.DESCRIPTION, "the URDF, once"
)
NOT_HOMED: Final = BridgeTopic(
    f"{_BRIDGE}/not_homed",
    Marker,
    qos.DESCRIPTION,
    "a text for RViz, until the arm has shown valid joints",
)
SPEED_SCALING: Final = BridgeTopic(
    f"{_BRIDGE}/speed_scaling",
    SpeedScalingFactor,
    qos.SPEED_SCALING,
    "part of their planned speed at which motions are played now, when it changes",
)
DIAGNOSTICS: Final = BridgeTopic("/diagnostics", DiagnosticArray, qos.STATE, "once a second")
SERVO_JP: Final = BridgeTopic(f"{_ARM}/servo_jp", JointState, qos.COMMAND, "to the arm: setpoints")
JAW_SERVO_JP: Final = BridgeTopic(
    f"{_ARM}/jaw/servo_jp", JointState, qos.COMMAND, "to the arm: the jaw", "jaw"
)
HOLD: Final = BridgeTopic(f"{_ARM}/hold", Empty, qos.COMMAND, "to the arm: stay at the setpoint")
STATE_COMMAND: Final = BridgeTopic(
    f"{_ARM}/state_command", StringStamped, qos.COMMAND, "to the arm: enable, home, ..."
)

PUBLISHED: Final = (
    JOINT_STATES,
    TF,
    TF_STATIC,
    ROBOT_DESCRIPTION,
    NOT_HOMED,
    SPEED_SCALING,
    DIAGNOSTICS,
    SERVO_JP,
    JAW_SERVO_JP,
    HOLD,
    STATE_COMMAND,
)

JOG: Final = BridgeTopic(f"{_BRIDGE}/jog", TwistStamped, qos.COMMAND, "velocity of the tip")
JOG_JOINTS: Final = BridgeTopic(
    f"{_BRIDGE}/jog_joints", JointJog, qos.COMMAND, "velocities of joints"
)
SPEED_SCALING_INPUT: Final = BridgeTopic(
    f"{_BRIDGE}/speed_scaling_input",
    SpeedScalingFactor,
    qos.SPEED_SCALING,
    "part of their planned speed at which motions shall be played, 0 to 1; 0 pauses them",
)
MEASURED_JS: Final = BridgeTopic(
    f"{_ARM}/measured_js", JointState, qos.STATE_READER, "where the joints are"
)
SETPOINT_JS: Final = BridgeTopic(
    f"{_ARM}/setpoint_js", JointState, qos.STATE_READER, "where they were told to be"
)
JAW_MEASURED_JS: Final = BridgeTopic(
    f"{_ARM}/jaw/measured_js", JointState, qos.STATE_READER, "the jaw", "jaw"
)
JAW_SETPOINT_JS: Final = BridgeTopic(
    f"{_ARM}/jaw/setpoint_js", JointState, qos.STATE_READER, "its setpoint", "jaw"
)
OPERATING_STATE: Final = BridgeTopic(
    f"{_ARM}/operating_state", OperatingState, qos.EVENT, "state of the arm"
)
ERROR: Final = BridgeTopic(
    f"{_ARM}/error", String, qos.EVENT, "an error of the arm freezes a motion"
)
TOOL_TYPE: Final = BridgeTopic(f"{_ARM}/tool_type", String, qos.EVENT, "its instrument", "tool")
SET_TOOL_TYPE: Final = BridgeTopic(
    f"{_ARM}/set_tool_type",
    String,
    qos.with_depth(qos.COMMAND, 10),
    "what somebody tells it to have counts at once",
    "tool",
)

_FOREIGN: Final = qos.with_depth(qos.COMMAND, 20)
"""How many commands of one topic can wait for a tick."""


def _foreign(name: str, message: Any, only: str = "") -> BridgeTopic:
    """A command to the arm from another client."""
    meaning = "one of somebody else silences us"
    if name == "hold":
        meaning = "one of somebody else stops a motion along its path"
    return BridgeTopic(f"{_ARM}/{name}", message, _FOREIGN, meaning, only)


FOREIGN_COMMANDS: Final = {
    topic.name.removeprefix(f"{_ARM}/"): topic
    for topic in (
        _foreign("hold", Empty),
        _foreign("free", Empty),
        _foreign("servo_jr", JointState),
        _foreign("servo_jf", JointState),
        _foreign("servo_cp", PoseStamped),
        _foreign("servo_cs", CartesianState),
        _foreign("servo_ci", CartesianImpedance),
        _foreign("body/servo_cf", WrenchStamped),
        _foreign("spatial/servo_cf", WrenchStamped),
        _foreign("move_jp", JointState),
        _foreign("move_jr", JointState),
        _foreign("move_cp", PoseStamped),
        _foreign("jaw/servo_jp", JointState, "jaw"),
        _foreign("jaw/servo_jf", JointState, "jaw"),
        _foreign("jaw/move_jp", JointState, "jaw"),
    )
}
"""Commands of other clients to the arm, by CRTK name.

The topics are those of the arm's commands, without the ones that the bridge publishes itself,
except ``hold`` and the jaw: there the bridge can tell its own messages apart.
"""

SUBSCRIBED: Final = (
    JOG,
    JOG_JOINTS,
    SPEED_SCALING_INPUT,
    MEASURED_JS,
    SETPOINT_JS,
    JAW_MEASURED_JS,
    JAW_SETPOINT_JS,
    OPERATING_STATE,
    ERROR,
    TOOL_TYPE,
    SET_TOOL_TYPE,
    *FOREIGN_COMMANDS.values(),
    BridgeTopic("/tf", TFMessage, FRAME_TOPICS["/tf"], "frames that a jog may refer to"),
    BridgeTopic("/tf_static", TFMessage, FRAME_TOPICS["/tf_static"], "those that do not move"),
)
"""When tf or tf_static get a new publisher, the bridge briefly subscribes to them once more, to
check whether it publishes our links.
"""

FOLLOW_JOINT_TRAJECTORY: Final = BridgeAction(
    f"{_BRIDGE}/follow_joint_trajectory",
    FollowJointTrajectory,
    "plays a trajectory; one at a time, a new one replaces it without a stop",
)
GRIPPER_CMD: Final = BridgeAction(
    f"{_BRIDGE}/gripper_cmd", ParallelGripperCommand, "opens or closes the jaw", "jaw"
)
ACTIONS: Final = (FOLLOW_JOINT_TRAJECTORY, GRIPPER_CMD)
