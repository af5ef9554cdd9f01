"""Hears what a bridge shows of its arm: joint_states, tf, robot_description."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from listening import listener_of
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import cp_to_matrices
from dvrk_kinematics.ros.common.frame_buffer import FrameBuffer
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawReader

TIMEOUT_S = 40.0
_KEPT = 4000
_STATE = qos.with_depth(qos.STATE, 200)


class Frame(NamedTuple):
    """One transform: the frame above, the frame, its pose there, its stamp (ns)."""

    parent: str
    child: str
    T: Array
    stamp_ns: int


def until(done: Callable[[], Any], what: str) -> Any:
    """Wait until something holds of what was heard."""
    deadline = time.monotonic() + TIMEOUT_S
    # Looked at now and then, not with every message: a look may take time that hearing needs.
    while not (result := done()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return result


class FramesObserver:
    """Hears tf and tf_static; read as bytes, so that the hundred frames of a cart cost little.

    Args:
        node: A spinning node.
        start: Where the names of both topics begin.
    """

    def __init__(self, node: Node, start: str = "/") -> None:
        self._reader = RawReader(TFMessage, ["transforms[].transform"], 64)
        self._moving: deque[bytes] = deque(maxlen=_KEPT)
        self._static: deque[bytes] = deque(maxlen=_KEPT)
        for name, kept, profile in (
            ("tf", self._moving, qos.with_depth(qos.TF, 1000)),
            ("tf_static", self._static, qos.TF_STATIC),
        ):
            listener_of(node).subscribe(TFMessage, start + name, profile, _keeper(kept))

    def moving(self, stamp_ns: int = 0) -> list[list[Frame]]:
        """Messages of tf; with a stamp, only those that have it."""
        return self._read(self._moving, stamp_ns)

    def static(self) -> list[list[Frame]]:
        """Messages of tf_static."""
        return self._read(self._static, 0)

    def children(self) -> set[str]:
        """All frames that came on tf."""
        return {frame.child for message in self.moving() for frame in message}

    def fixed(self) -> dict[str, Frame]:
        """All frames of tf_static by their names."""
        return {frame.child: frame for message in self.static() for frame in message}

    def stamps(self, child: str) -> set[int]:
        """All stamps of a frame."""
        return {f.stamp_ns for message in self.moving() for f in message if f.child == child}

    def buffer(self, stamp_ns: int = 0) -> FrameBuffer:
        """All frames: tf of one stamp, or the newest for 0, and tf_static."""
        buffer = FrameBuffer()
        for messages, is_static in ((self.moving(stamp_ns), False), (self.static(), True)):
            for frame in (frame for message in messages for frame in message):
                buffer.add(frame.parent, frame.child, frame.T, frame.stamp_ns, 0, is_static)
        return buffer

    def forget(self) -> None:
        """Forget what was heard on tf."""
        self._moving.clear()

    def _read(self, kept: deque[bytes], stamp_ns: int) -> list[list[Frame]]:
        messages = [self._reader.read(data) for data in list(kept)]
        return [
            [
                Frame(one.header.frame_id, one.child_frame_id, T, stamp)
                for one, T, stamp in zip(
                    message.template.transforms,
                    cp_to_matrices(message["transforms[].transform"].reshape(-1, 7))[0],
                    message.stamps_ns,
                    strict=True,
                )
            ]
            for message in messages
            if stamp_ns == 0 or stamp_ns in message.stamps_ns
        ]


class Observer:
    """Hears the joints of an arm, from itself and from its bridge.

    Args:
        node: A spinning node.
        arm: The arm's name, where the topics begin that the arm itself publishes.
        show: Where the topics begin that its bridge publishes, tf included; by default they have
            their usual names.
        frames: What hears tf; by default one of its own.

    Attributes:
        joint_states: Messages of joint_states by their stamps (ns).
        measured: The arm's measured_js by their stamps.
        invalid: How many messages of measured_js had stamp 0.
        descriptions: Texts of robot_description.
    """

    def __init__(
        self,
        node: Node,
        arm: str = "PSM1",
        show: str = "",
        frames: FramesObserver | None = None,
    ) -> None:
        self.frames = frames or FramesObserver(node, f"{show}/")
        self.joint_states: dict[int, Any] = {}
        self.measured: dict[int, Any] = {}
        self.invalid = 0
        self.descriptions: list[str] = []
        start = f"{show or arm}/"
        for topic, kept in (
            (f"{start}joint_states", self.joint_states),
            (f"{arm}/measured_js", self.measured),
        ):
            listener_of(node).subscribe(JointState, topic, _STATE, self._by_stamp(kept))
        node.create_subscription(
            String,
            f"{start}robot_description",
            lambda message: self.descriptions.append(message.data),
            qos.DESCRIPTION,
        )

    def pairs(self, count: int = 20, link: str = "") -> list[tuple[Any, Any]]:
        """joint_states that come from now on, each with the measured_js of the same stamp.

        Args:
            count: How many to wait for.
            link: A link whose pose on tf has these stamps, too.
        """
        before = max(list(self.joint_states), default=0)

        def find() -> Any:
            known = set(self.measured) & set(self.joint_states)
            known &= self.frames.stamps(link) if link else known
            stamps = sorted(stamp for stamp in known if stamp > before)
            return stamps if len(stamps) >= count else None

        stamps = until(find, f"{count} joint_states with the stamps of measured_js")
        return [(self.joint_states[stamp], self.measured[stamp]) for stamp in stamps]

    def description(self) -> str:
        """The text of robot_description."""
        return str(until(lambda: self.descriptions and self.descriptions[-1], "description"))

    def _by_stamp(self, kept: dict[int, Any]) -> Callable[[bytes, Any], None]:
        def keep(data: bytes, _: Any) -> None:
            message = deserialize_message(data, JointState)
            stamp_ns = stamp_to_ns(message.header.stamp)
            kept[stamp_ns] = message
            self.invalid += kept is self.measured and stamp_ns == 0

        return keep


def _keeper(kept: deque[bytes]) -> Callable[[bytes, Any], None]:
    return lambda data, _: kept.append(data)


def find_pose(buffer: FrameBuffer, target: str, source: str) -> Array:
    """Pose of one frame in another, whatever the age."""
    return buffer.lookup(target, source, 0, np.inf)


def bridge_process(name: str, arm: str = "PSM1", **parameters: Any) -> Process:
    """A bridge that publishes below a name of its own, so that several can show one arm.

    Only one bridge may command an arm: these would send their setpoints elsewhere.
    """
    topics = ("joint_states", "robot_description", "servo_jp")
    remappings = {f"{arm}/{topic}": f"{name}/{topic}" for topic in topics}
    remappings[f"bridge/{arm}/not_homed"] = f"{name}/not_homed"
    remappings |= {f"/{topic}": f"{name}/{topic}" for topic in ("tf", "tf_static")}
    return Process(
        "arm_bridge", name=name, parameters={"arm": arm, **parameters}, remappings=remappings
    )
