"""An arm behind its CRTK topics, as the driver needs to see it.

The control loop itself reads all topics at the start of a tick. That moment counts as the arrival,
on the monotonic clock, so that a jump of the wall clock has no effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from crtk_msgs.msg import StringStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty

from dvrk_kinematics.driver.port import ArmState, JawReading, OperatingState
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.ros.bridge.contract import (
    ERROR,
    HOLD,
    JAW_MEASURED_JS,
    JAW_SERVO_JP,
    JAW_SETPOINT_JS,
    MEASURED_JS,
    OPERATING_STATE,
    SERVO_JP,
    SET_TOOL_TYPE,
    SETPOINT_JS,
    STATE_COMMAND,
    TOOL_TYPE,
    BridgeTopic,
)
from dvrk_kinematics.ros.bridge.other_clients import OtherClients
from dvrk_kinematics.ros.common.conversions import make_joint_state
from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage, RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["MAX_BYTES", "CrtkPort", "HeardJoint", "JointStream"]

_NOTHING = frozen(np.empty(0))
MAX_BYTES = 65_536
"""An arm's messages have some hundred bytes. Larger ones than this are dropped unread, since they
would block the control loop."""


class HeardJoint:
    """The newest message of a JointState topic.

    Attributes:
        names: Its joints, in order.
        position: Positions (rad, m).
        velocity: Velocities; None if it carries none.
        stamp_ns: Its stamp.
        arrival_ns: When it was read (monotonic); None before the first.
        count: Messages read so far.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.position: Array = _NOTHING
        self.velocity: Array | None = None
        self.stamp_ns = 0
        self.arrival_ns: int | None = None
        self.count = 0


class JointStream(HeardJoint):
    """A JointState topic that the loop reads.

    Args:
        node: The node.
        topic: The topic.
        arm: Name of the arm that publishes it.
    """

    def __init__(self, node: Node, topic: BridgeTopic, arm: str) -> None:
        super().__init__()
        self._subscription: PolledSubscription[Any] = PolledSubscription(
            node, *topic.of(arm), MAX_BYTES
        )
        # The effort is unused, but changes. A field not named here counts as part of the layout,
        # and the reader would have to learn every message anew.
        self._reader = RawReader(JointState, ["position", "velocity", "effort"])
        self._template: Any = None

    @property
    def learnt(self) -> int:
        """How many messages had a new layout, and had to be deserialised."""
        return self._reader.learnt

    def poll(self, now_ns: int) -> bool:
        """Read what has arrived; return whether anything has."""
        # The queue holds one message, so we always take the newest.
        message = self._subscription.take_raw(self._reader)
        if message is None:
            return False
        if message.template is not self._template:
            self._template = message.template
            self.names = tuple(message.template.name)
        self.position = message["position"]
        velocity = message["velocity"]
        self.velocity = velocity if len(velocity) else None
        self.stamp_ns, self.arrival_ns = message.stamp_ns, now_ns
        self.count += 1
        return True


class CrtkPort:
    """One arm.

    Args:
        node: The node.
        arm: Name of the arm, with which its topics begin.
        joints: Its joints.
        has_jaw: Whether it has the topics of a jaw.
        has_tool: Whether it has the topic tool_type.
        others: Listens for commands of other clients, and needs to know ours.
    """

    def __init__(
        self,
        node: Node,
        arm: str,
        joints: Sequence[str],
        has_jaw: bool,
        has_tool: bool,
        others: OtherClients,
    ) -> None:
        self._node = node
        self._arm = arm
        self._others = others
        self.measured = JointStream(node, MEASURED_JS, arm)
        self._setpoint = JointStream(node, SETPOINT_JS, arm)
        self.jaw = JointStream(node, JAW_MEASURED_JS, arm) if has_jaw else None
        self.jaw_setpoint = JointStream(node, JAW_SETPOINT_JS, arm) if has_jaw else None
        self._events: list[tuple[PolledSubscription[Any], Callable[[Any], None]]] = []
        self._hear(OPERATING_STATE, self._take_state)
        self._hear(ERROR, self._take_error)
        if has_tool:
            self._hear(TOOL_TYPE, self._take_tool)
            # The dVRK does not announce a tool exchange, so what another client tells it counts
            # as well.
            self._hear(SET_TOOL_TYPE, self._take_tool)
        self._servo = PatchedMessage(
            make_joint_state(joints, np.zeros(len(joints)), np.zeros(len(joints))),
            ["position", "velocity"],
        )
        # With zero velocity, since the arm keeps the last one that it received.
        self._jaw_servo = PatchedMessage(
            make_joint_state(["jaw"], np.zeros(1), np.zeros(1)), ["position"]
        )
        jaws = (JAW_SERVO_JP,) if has_jaw else ()
        self._publishers = {
            topic.name: node.create_publisher(*topic.of(arm))
            for topic in (SERVO_JP, HOLD, STATE_COMMAND, *jaws)
        }
        self._state = OperatingState.UNDEFINED
        self._has_state = False
        self._is_homed = self._is_busy = False
        self._interruptions = self._errors = 0
        self._tool = self._last_error = ""

    def poll(self, now_ns: int) -> bool:
        """Read everything that has arrived; return whether measured_js has.

        Args:
            now_ns: Time now (monotonic).
        """
        self._setpoint.poll(now_ns)
        if self.jaw is not None and self.jaw_setpoint is not None:
            self.jaw.poll(now_ns)
            self.jaw_setpoint.poll(now_ns)
        has_news = self.measured.poll(now_ns)
        # Events last: the arm reports DISABLED before it marks its state as invalid, and a reader
        # that sees the second must have seen the first.
        for subscription, take in self._events:
            while (message := subscription.take_message()) is not None:
                take(message)
        return has_news

    def read(self) -> ArmState:
        """Return the newest state."""
        measured, setpoint = self.measured, self._setpoint
        return ArmState(
            joint_names=measured.names,
            measured_q=measured.position,
            measured_qd=measured.velocity,
            measured_stamp_ns=measured.stamp_ns,
            measured_arrival_ns=measured.arrival_ns,
            setpoint_q=setpoint.position,
            setpoint_stamp_ns=setpoint.stamp_ns,
            setpoint_arrival_ns=setpoint.arrival_ns,
            operating_state=self._state,
            is_homed=self._is_homed,
            is_busy=self._is_busy,
            interruptions=self._interruptions,
            tool=self._tool,
            errors=self._errors,
            last_error=self._last_error,
        )

    def read_jaw(self) -> JawReading:
        """Return the newest state of the jaw."""
        measured, setpoint = self.jaw, self.jaw_setpoint
        if measured is None or setpoint is None:
            return JawReading(None, None, None)
        return JawReading(
            _only(measured.position) if measured.stamp_ns != 0 else None,
            _only(measured.velocity),
            _only(setpoint.position),
        )

    def servo_jp(self, q: Array, qd: Array) -> None:
        """Send a setpoint."""
        self._servo["position"], self._servo["velocity"] = q, qd
        self._publishers[SERVO_JP.name].publish(self._servo.stamped(self._now_ns()))

    def servo_jaw(self, position: float) -> None:
        """Send a setpoint of the jaw (rad)."""
        self._others.sent_opening(position, time.monotonic_ns())
        self._jaw_servo["position"] = [position]
        self._publishers[JAW_SERVO_JP.name].publish(self._jaw_servo.stamped(self._now_ns()))

    def hold(self) -> None:
        """Command the arm to stay at its setpoint."""
        self._others.sent_hold(time.monotonic_ns())
        self._publishers[HOLD.name].publish(Empty())

    def state_command(self, word: str) -> None:
        """Command the arm to enable, disable, home, pause or resume."""
        message = StringStamped(string=word)
        write_stamp(message.header.stamp, self._now_ns())
        self._publishers[STATE_COMMAND.name].publish(message)

    @property
    def is_heard(self) -> bool:
        """Whether every command topic has a subscriber."""
        return all(p.get_subscription_count() > 0 for p in self._publishers.values())

    def find_unheard(self) -> str:
        """Name of a topic that motion requires and that never arrived; empty if none."""
        heard = {
            "measured_js": self.measured.arrival_ns is not None,
            "setpoint_js": self._setpoint.arrival_ns is not None,
            "operating_state": self._has_state,
        }
        return next((topic for topic, is_heard in heard.items() if not is_heard), "")

    def _hear(self, topic: BridgeTopic, take: Callable[[Any], None]) -> None:
        subscription: PolledSubscription[Any] = PolledSubscription(
            self._node, *topic.of(self._arm), MAX_BYTES
        )
        self._events.append((subscription, take))

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _take_state(self, message: Any) -> None:
        try:
            state = OperatingState(message.state)
        except ValueError:
            state = OperatingState.UNDEFINED
        is_ready = state is OperatingState.ENABLED and message.is_homed and not message.is_busy
        self._interruptions += not is_ready
        self._has_state = True
        self._state, self._is_homed, self._is_busy = state, message.is_homed, message.is_busy

    def _take_error(self, message: Any) -> None:
        self._errors += 1
        self._last_error = message.data

    def _take_tool(self, message: Any) -> None:
        self._tool = message.data


def _only(values: Array | None) -> float | None:
    """The one number of an array; None if it has another length or is not finite."""
    if values is None or len(values) != 1 or not np.isfinite(values[0]):
        return None
    return float(values[0])
