"""The CRTK contract of the dVRK: every topic and service of an arm, as one table of data.

Recorded from the dVRK's own software (sawIntuitiveResearchKit 9e535e68) while it ran. The
simulator, the bridge and their tests all read it here. Directions are seen from the robot. Names
are relative to the arm's namespace, which :func:`namespace_of` returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from crtk_msgs.msg import CartesianImpedance, CartesianState, OperatingState, StringStamped
from crtk_msgs.srv import QueryForwardKinematics, QueryInverseKinematics, TriggerOperatingState
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Bool, Empty, Float64, Float64MultiArray, String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.models.load_model import load_model, model_name
from dvrk_kinematics.ros.common import qos

__all__ = [
    "CONTRACT",
    "CRTK_VERSION",
    "LEFT_OUT",
    "NODE_NAME",
    "Direction",
    "Frame",
    "Interface",
    "Kind",
    "LeftOut",
    "Rate",
    "Service",
    "Topic",
    "kind_of",
    "namespace_of",
    "type_name",
]


class Kind(str, Enum):
    """What a group of topics belongs to."""

    PSM = "PSM"
    ECM = "ECM"
    ARM = "ARM"
    """A plain serial arm, without an exchangeable tool and without a cannula."""
    SUJ = "SUJ"
    """One setup joint arm, named after the arm that it carries."""
    SETUP = "SETUP"
    """All setup joints together."""
    SYSTEM = "SYSTEM"
    PROCESS = "PROCESS"
    """What the process publishes outside of any namespace."""


class Direction(Enum):
    """Who sends, seen from the robot."""

    PUBLISHED = "published"
    SUBSCRIBED = "subscribed"


class Rate(Enum):
    """When a message is sent."""

    STATE = "rate"
    """Periodically; skipped while nobody subscribes."""
    SETUP = "setup_joint_rate"
    """Periodically, at the rate of setup joints; skipped while nobody subscribes."""
    TF = "tf_rate"
    """Periodically; skipped while nobody subscribes."""
    EVENT = "event"
    """Immediately when something happens, and latched for later subscribers."""
    COMMAND = "command"
    """Whenever a client chooses."""


class Frame(Enum):
    """Content of header.frame_id."""

    NONE = "none"
    """The message has no header, or its frame_id is empty."""
    LOCAL = "<arm>_base"
    """The arm's own base, wherever it is mounted."""
    BASE = "base frame"
    """The frame in which the base frame was given; ``<arm>_base`` if none was given."""
    IGNORED = "ignored"
    """A command: interpreted as BASE, whatever the client writes."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic.

    Attributes:
        name: Name relative to the namespace.
        message: The message class.
        direction: Who sends.
        rate: When.
        qos: Quality of service at the robot's end.
        frame: Rule for header.frame_id.
        meaning: Its content, in a few words.
    """

    name: str
    message: Any
    direction: Direction
    rate: Rate
    qos: QoSProfile
    frame: Frame
    meaning: str

    @property
    def is_published(self) -> bool:
        """Whether the robot sends it."""
        return self.direction is Direction.PUBLISHED


@dataclass(frozen=True, slots=True)
class Service:
    """One service; name and meaning as in a Topic."""

    name: str
    service: Any
    meaning: str


@dataclass(frozen=True, slots=True)
class Interface:
    """All topics and services of one kind."""

    topics: tuple[Topic, ...]
    services: tuple[Service, ...] = ()

    @property
    def published(self) -> Iterator[Topic]:
        """Topics that the robot sends."""
        return (topic for topic in self.topics if topic.is_published)

    @property
    def subscribed(self) -> Iterator[Topic]:
        """Topics to which the robot subscribes."""
        return (topic for topic in self.topics if not topic.is_published)

    def topic(self, name: str) -> Topic:
        """The topic of that name."""
        return next(topic for topic in self.topics if topic.name == name)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of the dVRK's own graph that is not in the contract.

    Attributes:
        what: Its name, or a pattern of names (``*`` for anything).
        types: A pattern of the types' names.
        reason: Why.
    """

    what: str
    types: str
    reason: str


NODE_NAME: Final = "dvrk"
"""The dVRK's process is a single node with exactly this name, without a suffix."""

CRTK_VERSION: Final = "1.1.0"
"""The response of the service crtk_version."""


def kind_of(arm: str, model: str = "") -> Kind:
    """The kind of an arm, according to its model.

    Args:
        arm: The arm's name on the graph, such as ``PSM1`` or ``RVM1``.
        model: Its model, if its name does not imply it.

    Raises:
        UnknownName: There is no such model, or its kind has no topics.
    """
    kind = load_model(model or model_name(arm)).kind
    try:
        return Kind(kind)
    except ValueError:
        raise UnknownName("kind of arm with topics", kind, [k.value for k in Kind]) from None


def namespace_of(kind: Kind, arm: str = "") -> str:
    """The namespace of a kind.

    Args:
        kind: The kind.
        arm: The arm's name, such as ``PSM1``; for a SUJ, the arm that it carries.
    """
    return {
        Kind.PSM: f"{arm}/",
        Kind.ECM: f"{arm}/",
        Kind.ARM: f"{arm}/",
        Kind.SUJ: f"SUJ/{arm}/",
        Kind.SETUP: "SUJ/",
        Kind.SYSTEM: "system/",
        Kind.PROCESS: "/",
    }[kind]


def type_name(message: Any) -> str:
    """Name of a message or service class on the graph, such as ``std_msgs/msg/String``."""
    package, folder = message.__module__.split(".")[:2]
    return f"{package}/{folder}/{message.__name__}"


def _state(name: str, message: Any, meaning: str, frame: Frame = Frame.NONE) -> Topic:
    return Topic(name, message, Direction.PUBLISHED, Rate.STATE, qos.ARM_STATE, frame, meaning)


def _event(name: str, message: Any, meaning: str) -> Topic:
    return Topic(name, message, Direction.PUBLISHED, Rate.EVENT, qos.EVENT, Frame.NONE, meaning)


def _command(name: str, message: Any, meaning: str, frame: Frame = Frame.NONE) -> Topic:
    return Topic(name, message, Direction.SUBSCRIBED, Rate.COMMAND, qos.COMMAND, frame, meaning)


_TEXTS = (
    _event("error", String, "text; the arm's name first"),
    _event("warning", String, "text; the arm's name first"),
    _event("status", String, "text; the arm's name first"),
)

_OPERATING_STATE = _event(
    "operating_state", OperatingState, "state, is_homed, is_busy; several times per transition"
)

_ARM_STATES = (
    _state("measured_js", JointState, "joints, the jaw excluded"),
    _state("setpoint_js", JointState, "goal of the servo; effort is its output"),
    _state("gravity_compensation/setpoint_js", JointState, "effort only"),
    _state("measured_cp", PoseStamped, "tip in the base frame", Frame.BASE),
    _state("setpoint_cp", PoseStamped, "goal of the tip in the base frame", Frame.BASE),
    _state("local/measured_cp", PoseStamped, "tip in the arm's own base", Frame.LOCAL),
    _state("local/setpoint_cp", PoseStamped, "goal of the tip in the arm's own base", Frame.LOCAL),
    _state("measured_cv", TwistStamped, "tip, axes of the base frame", Frame.LOCAL),
    _state("local/measured_cv", TwistStamped, "tip, axes of the tip", Frame.LOCAL),
    _state("body/measured_cf", WrenchStamped, "wrench at the tip, axes of the tip"),
    _state("spatial/measured_cf", WrenchStamped, "wrench, axes of the arm's base"),
    _state("body/jacobian", Float64MultiArray, "6 x n, linear rows first, axes of the tip"),
    _state("spatial/jacobian", Float64MultiArray, "6 x n, linear rows first, axes of the base"),
)

_ARM_EVENTS = (
    _OPERATING_STATE,
    _event("desired_state", String, "where the state machine is going"),
    _event("goal_reached", Bool, "end of every move"),
    *_TEXTS,
    _event("trajectory_j/ratio", Float64, "share of the moves' limits; 0 if v and a differ"),
    _event("trajectory_j/ratio_v", Float64, "share of the velocity limits"),
    _event("trajectory_j/ratio_a", Float64, "share of the acceleration limits"),
    _event("arm_clutch", Joy, "button on the arm; never pressed here"),
)

_ARM_COMMANDS = (
    _command("state_command", StringStamped, "enable, disable, home, unhome, pause, resume"),
    _command("hold", Empty, "stop where the goal is now"),
    _command("free", Empty, "no effort"),
    _command("servo_jp", JointState, "position, optional velocity as feed-forward"),
    _command("servo_jr", JointState, "position added to the goal"),
    _command("servo_jf", JointState, "effort"),
    _command("servo_cp", PoseStamped, "pose of the tip", Frame.IGNORED),
    _command("servo_cs", CartesianState, "pose, twist and wrench with flags", Frame.IGNORED),
    _command("servo_ci", CartesianImpedance, "virtual fixture", Frame.IGNORED),
    _command("move_jp", JointState, "position; a trajectory within the moves' limits"),
    _command("move_jr", JointState, "position added to the goal; a trajectory"),
    _command("move_cp", PoseStamped, "pose of the tip; a trajectory in joints", Frame.IGNORED),
    _command("body/servo_cf", WrenchStamped, "wrench, axes of the tip"),
    _command("spatial/servo_cf", WrenchStamped, "wrench, axes of the base"),
    _command("body/set_cf_orientation_absolute", Bool, "body wrenches in axes of the base"),
    _command("use_gravity_compensation", Bool, "adds effort against gravity"),
    _command("trajectory_j/set_ratio", Float64, "share of the moves' limits, ]0; 1]"),
    _command("trajectory_j/set_ratio_v", Float64, "share of the velocity limits, ]0; 1]"),
    _command("trajectory_j/set_ratio_a", Float64, "share of the acceleration limits, ]0; 1]"),
    _command("set_base_frame", PoseStamped, "base in the frame that its header names", Frame.BASE),
)

_ARM_SERVICES = (
    Service("operating_state", TriggerOperatingState, "the state now; its stamp is always 0"),
    Service("crtk_version", Trigger, f'answers "{CRTK_VERSION}"'),
    Service("forward_kinematics", QueryForwardKinematics, "in the base frame"),
    Service("local/forward_kinematics", QueryForwardKinematics, "in the arm's own base"),
    Service("inverse_kinematics", QueryInverseKinematics, "in the arm's own base; not clipped"),
)

_PSM = (
    _state("jaw/measured_js", JointState, "the jaw alone"),
    _state("jaw/setpoint_js", JointState, "goal of the jaw; no velocity"),
    _event("tool_type", String, "NAME:NUMBER[..], empty without a tool, or ERROR"),
    _event("tool_type_request", Empty, "the user has to name the tool"),
    _command("jaw/servo_jp", JointState, "position; 0 is closed"),
    _command("jaw/servo_jf", JointState, "effort; the whole arm goes to effort mode"),
    _command("jaw/move_jp", JointState, "position; part of the arm's trajectory"),
    _command("set_tool_type", String, "NAME:NUMBER"),
    _command("emulate_adapter_present", Bool, "as if the adapter was put on or taken off"),
    _command("emulate_tool_present", Bool, "as if the tool was put on or taken off"),
)

_ECM = (
    _event("endoscope_type", String, "name, or ERROR"),
    _command("set_endoscope_type", String, "such as Classic_SD_STRAIGHT"),
)


def _setup(name: str, message: Any, meaning: str, frame: Frame = Frame.NONE) -> Topic:
    return Topic(name, message, Direction.PUBLISHED, Rate.SETUP, qos.ARM_STATE, frame, meaning)


CONTRACT: Final[dict[Kind, Interface]] = {
    Kind.PSM: Interface((*_ARM_STATES, *_ARM_EVENTS, *_ARM_COMMANDS, *_PSM), _ARM_SERVICES),
    Kind.ECM: Interface((*_ARM_STATES, *_ARM_EVENTS, *_ARM_COMMANDS, *_ECM), _ARM_SERVICES),
    Kind.ARM: Interface((*_ARM_STATES, *_ARM_EVENTS, *_ARM_COMMANDS), _ARM_SERVICES),
    Kind.SUJ: Interface(
        (
            _setup("measured_js", JointState, "6 positions, also for the ECM"),
            _setup("measured_cp", PoseStamped, "base of the arm it carries", Frame.BASE),
            _setup("local/measured_cp", PoseStamped, "the same in the cart", Frame.BASE),
            _OPERATING_STATE,
            *_TEXTS,
            _command("state_command", StringStamped, "one changes the state of all"),
            _command("servo_jp", JointState, "position, taken at once"),
            _command("move_jp", JointState, "position, taken at once"),
        )
    ),
    Kind.SETUP: Interface(
        (_command("set_reference_arm", String, "arm whose tip the others are given in"),)
    ),
    Kind.SYSTEM: Interface(
        (
            _event("volume", Float64, "of beeps, 0 to 1"),
            _command("power_on", Empty, "enable for all arms"),
            _command("power_off", Empty, "disable for all arms"),
            _command("home", Empty, "home for all arms"),
            _command("set_volume", Float64, "of beeps, 0 to 1"),
            _command("beep", Float64MultiArray, "duration (s), frequency (Hz), volume"),
            _command("string_to_speech", String, "text"),
        )
    ),
    Kind.PROCESS: Interface(
        (
            Topic(
                "tf",
                TFMessage,
                Direction.PUBLISHED,
                Rate.TF,
                qos.TF,
                Frame.BASE,
                "one frame a message; stamp 0 where setup joints are not valid",
            ),
        )
    ),
}
"""Every kind with its topics and services."""

LEFT_OUT: Final = (
    LeftOut("*period_statistics", "cisst_msgs/*", "needs cisst_msgs, timing of its own threads"),
    LeftOut("*/actuator_to_joint_position", "cisst_msgs/*", "needs cisst_msgs"),
    LeftOut("/parameter_events", "rcl_interfaces/*", "subscribed by every rclcpp node, not rclpy"),
    LeftOut("console/*", "*", "teleoperation and pedals belong to the surgeon's console"),
    LeftOut("MTM*", "*", "the surgeon's arms are not simulated"),
    LeftOut("footpedals/*", "sensor_msgs/*", "pedals are hardware"),
    LeftOut("*/IO/*", "sensor_msgs/*", "hardware only, absent in the dVRK's own simulation"),
    LeftOut("SUJ/*/*_voltage/*", "sensor_msgs/*", "potentiometers; only with the option -s"),
    LeftOut("PID/*", "*", "only with the options -I and -J"),
)
"""The parts of the dVRK's graph outside the contract, each with its reason."""
