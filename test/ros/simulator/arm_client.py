"""A client of one arm that needs what the official Python clients need, and no less.

Queues, durabilities and ways of waiting are theirs: a volatile subscription to operating_state
with a queue of 10, a latched state_command, moves that are waited for by is_busy going up and
down, stamps that must not be 0 and must increase.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from crtk_msgs.msg import StringStamped
from listening import listener_of
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.crtk.contract import CONTRACT, Kind, kind_of, namespace_of

TIMEOUT_S = 30.0
_QUIET_S = 0.3
_CLIENT_QOS = QoSProfile(depth=10)
_DURABLE_QOS = QoSProfile(depth=200, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
_LATCHED_QOS = QoSProfile(depth=10, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
_READINGS_NS = 20_000
"""Stamps of one datum differ by less (ns)."""


class ArmClient:
    """Hears and commands one arm.

    Args:
        node: A spinning node.
        arm: The arm's name.
        namespace: Where its name begins.
        kind: What it is, if its name does not tell.
        durable: Hear events that were sent before, too; the official clients do not.
    """

    def __init__(
        self,
        node: Node,
        arm: str,
        namespace: str = "",
        *,
        kind: Kind | None = None,
        durable: bool = False,
    ) -> None:
        self.kind = kind or kind_of(arm)
        self.heard: dict[str, list[Any]] = defaultdict(list)
        self._heard_at: dict[str, float] = {}
        self._changed = threading.Condition()
        self.start = f"{namespace}{namespace_of(self.kind, arm)}"
        self._node = node
        self._qos = _DURABLE_QOS if durable else _CLIENT_QOS
        self._publishers: dict[str, Any] = {}
        self._subscriptions: dict[str, Any] = {}

    def hear(self, *names: str) -> None:
        """Subscribe to topics."""
        for name in names:
            if name not in self._subscriptions:
                topic = CONTRACT[self.kind].topic(name)
                qos = self._qos if topic.qos.durability.name == "TRANSIENT_LOCAL" else _CLIENT_QOS
                self._subscriptions[name] = listener_of(self._node).subscribe(
                    topic.message, self.start + name, qos, self._keeper(name, topic.message)
                )

    def forget(self, *names: str) -> None:
        """Subscribe to topics no longer."""
        for name in names:
            listener_of(self._node).unsubscribe(self._subscriptions.pop(name))

    def prepare(self, *names: str) -> None:
        """Publish to topics."""
        for name in names:
            if name not in self._publishers:
                qos = _LATCHED_QOS if name == "state_command" else _CLIENT_QOS
                self._publishers[name] = self._node.create_publisher(
                    CONTRACT[self.kind].topic(name).message, self.start + name, qos
                )

    def check_connections(self) -> None:
        """Wait until all that was asked for has found the other end."""
        self._until(
            lambda: (
                all(map(self._is_heard, self._publishers))
                and all(
                    self._node.count_publishers(self.start + name) > 0
                    for name in self._subscriptions
                )
            ),
            "connections",
        )
        # The graph knows of a publisher before that knows of us, and what is said before is lost.
        # DDS tells the arm of subscriptions in their order, so that one more, to what is said all
        # the time, is served last.
        always = [name for name in ("measured_js", "setpoint_js") if name in self._subscriptions]
        if always:
            self._hear_once_more(always[0])
        self._until(lambda: all(self.heard[name] for name in always), "what is said all the time")

    def send(self, name: str, message: Any) -> None:
        """Publish one command."""
        self.prepare(name)
        self._until(lambda: self._is_heard(name), f"reader of {name}")
        self._publishers[name].publish(message)

    def send_joints(self, name: str, position: Sequence[float]) -> None:
        """Publish positions."""
        self.send(name, JointState(position=[float(p) for p in position]))

    def command(self, word: str, done: Callable[[Any], bool]) -> Any:
        """Send a state command and wait for a state that comes after it."""
        before = len(self.heard["operating_state"])
        self.send("state_command", StringStamped(string=word))
        return self.wait(
            "operating_state", lambda: _first(self.heard["operating_state"][before:], done), word
        )

    def enable(self) -> None:
        """Enable, and wait as the clients do."""
        self.command("enable", lambda state: state.state == "ENABLED" and not state.is_busy)

    def home(self) -> None:
        """Home and wait as the clients do, and then until the homing motion is over."""
        before = len(self.heard["status"])
        self.command("home", lambda state: state.is_homed and not state.is_busy)
        self.settle_homed(before)

    def settle_homed(self, before: int) -> None:
        """Wait until the arm is homed, its tool engaged, and nothing more is said.

        Args:
            before: How many status texts had been heard before it was told to home.
        """

        def is_settled() -> bool:
            texts = self.texts("status")
            has_moved = any(text.endswith("current state HOMING") for text in texts[before:])
            # Without a configured tool it is told after homing that one is there.
            is_homed = has_moved and texts[-1].endswith(("current state HOMED", "tool detected"))
            is_quiet = is_homed and time.monotonic() - self._heard_at["status"] > _QUIET_S
            return is_quiet and not self.state.is_busy

        self.wait("status", is_settled, "homing")

    def move(self, name: str, message: Any) -> bool:
        """Send a move and wait as its handle does: busy, then not; tells whether it arrived."""
        states, goals = len(self.heard["operating_state"]), len(self.heard["goal_reached"])
        self.send(name, message)
        self.wait(
            "operating_state",
            lambda: _in_order(
                [str(s.is_busy) for s in self._states(states)], "", ("True", "False")
            ),
            name,
        )
        self.wait("goal_reached", lambda: len(self.heard["goal_reached"]) > goals)
        return bool(self.heard["goal_reached"][goals].data)

    def move_joints(self, name: str, position: Sequence[float]) -> bool:
        """Move to positions and wait."""
        return self.move(name, JointState(position=[float(p) for p in position]))

    @property
    def state(self) -> Any:
        """The newest operating state."""
        return self.heard["operating_state"][-1]

    def newest(self, name: str) -> Any:
        """A message of a state topic that was sent after this call."""
        self.hear(name)
        before, now = len(self.heard[name]), time.time_ns()

        def is_new() -> bool:
            # Those still in the queue are older; what has no valid stamp is known by its place.
            messages = self.heard[name]
            if len(messages) <= before:
                return False
            header = getattr(messages[-1], "header", None)
            stamp = stamp_to_ns(header.stamp) if header else 0
            return stamp > now if stamp else len(messages) > before + 2 * _CLIENT_QOS.depth

        self.wait(name, is_new)
        return self.heard[name][-1]

    def texts(self, name: str) -> list[str]:
        """All texts heard on error, warning or status."""
        return [message.data for message in self.heard[name]]

    def silent_s(self, name: str) -> float:
        """How long nothing has been heard on a topic that was heard before."""
        return time.monotonic() - self._heard_at[name]

    def wait(self, name: str, done: Callable[[], Any], what: str = "") -> Any:
        """Wait until something holds of what was heard."""
        self.hear(name)
        deadline = time.monotonic() + TIMEOUT_S
        with self._changed:
            while not (result := done()):
                self._changed.wait(0.1)
                assert time.monotonic() < deadline, (
                    f"{what or name}: heard {self.heard[name][-5:]}, "
                    f"{self.texts('error')[-3:]} {self.texts('warning')[-3:]}"
                )
        return result

    def check_stamps(self, name: str) -> None:
        """Stamps are valid, and one that falls behind is of a datum that was published before."""
        stamps = [stamp_to_ns(message.header.stamp) for message in self.heard[name]]
        assert stamps and all(stamps), name
        assert all(b - a > -_READINGS_NS for a, b in pairwise(stamps)), name

    def _hear_once_more(self, name: str) -> None:
        """Wait for a message through a subscription that begins now."""
        is_served = threading.Event()
        listener = listener_of(self._node)
        last = listener.subscribe(
            CONTRACT[self.kind].topic(name).message,
            self.start + name,
            _CLIENT_QOS,
            lambda _data, _info: is_served.set(),
        )
        assert is_served.wait(TIMEOUT_S), f"nothing is said on {name}"
        listener.unsubscribe(last)

    def _is_heard(self, name: str) -> bool:
        """Whether a command will reach the arm itself; others may hear it as well."""
        readers = self._node.get_subscriptions_info_by_topic(self.start + name)
        writers = self._node.get_publishers_info_by_topic(f"{self.start}operating_state")
        arms = {(writer.node_namespace, writer.node_name) for writer in writers}
        is_found = arms & {(reader.node_namespace, reader.node_name) for reader in readers}
        matched = self._publishers[name].get_subscription_count()
        return bool(is_found) and matched >= len(readers)

    def _states(self, start: int) -> list[Any]:
        return self.heard["operating_state"][start:]

    def _keeper(self, name: str, message_type: type) -> Callable[[bytes, Any], None]:
        def keep(data: bytes, _: Any) -> None:
            message = deserialize_message(data, message_type)
            with self._changed:
                self.heard[name].append(message)
                self._heard_at[name] = time.monotonic()
                self._changed.notify_all()

        return keep

    def _until(self, done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not done():
            assert time.monotonic() < deadline, what
            time.sleep(0.01)


def _first(messages: Sequence[Any], done: Callable[[Any], bool]) -> Any:
    return next((message for message in messages if done(message)), None)


def _in_order(texts: Sequence[Any], prefix: str, words: Sequence[str]) -> bool:
    """Whether texts that end with the words came, one after the other."""
    heard = iter(getattr(text, "data", text) for text in texts)
    return all(any(text.endswith(f"{prefix}{word}") for text in heard) for word in words)
