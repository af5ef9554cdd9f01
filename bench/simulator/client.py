"""A client in its own process: homes the arms, listens, streams servo commands, and counts."""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import rclpy
from crtk_msgs.msg import OperatingState, StringStamped
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from bench.simulator.stream import ServoStream
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.spinning_node import SpinningNode
from dvrk_kinematics.ros.crtk.contract import CONTRACT, Kind, Rate, namespace_of
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

USUAL = (
    "measured_js",
    "setpoint_js",
    "measured_cp",
    "setpoint_cp",
    "jaw/measured_js",
    "jaw/setpoint_js",
)
TIMEOUT_S = 60.0


class Arm:
    """One arm as a client sees it: its operating state, and what it publishes."""

    def __init__(self, node: Node, name: str) -> None:
        self.name = name
        self.state: Any = None
        self._changed = threading.Condition()
        self.command = node.create_publisher(StringStamped, f"{name}/state_command", qos.COMMAND)
        node.create_subscription(OperatingState, f"{name}/operating_state", self._hear, qos.EVENT)

    def _hear(self, message: Any) -> None:
        with self._changed:
            self.state = message
            self._changed.notify_all()

    def home(self) -> None:
        """Enable and home."""
        self._wait(lambda state: state is not None)
        self._wait(lambda _: self.command.get_subscription_count() > 0)
        self.command.publish(StringStamped(string="enable"))
        self._wait(lambda state: state.state == "ENABLED" and not state.is_busy)
        self.command.publish(StringStamped(string="home"))
        self._wait(lambda state: state.is_homed and state.is_busy)
        self._wait(lambda state: state.is_homed and not state.is_busy)

    def _wait(self, done: Any) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        with self._changed:
            while not done(self.state):
                self._changed.wait(0.05)
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{self.name} stays in {self.state}")


class Ear:
    """Reads topics without an executor, at its own pace, and counts their messages."""

    def __init__(self, node: Node, arms: list[str], topics: str, setup_joints: bool) -> None:
        self.counts: dict[str, int] = {}
        self._readers: list[tuple[str, PolledSubscription[Any]]] = []
        kinds = [(Kind(arm.rstrip("0123456789")), arm) for arm in arms]
        kinds += [(Kind.SUJ, arm) for arm in arms] if setup_joints else []
        kinds += [(Kind.PROCESS, "")] if topics == "all" or setup_joints else []
        for kind, arm in kinds if topics != "none" else []:
            for topic in CONTRACT[kind].published:
                if topic.rate is not Rate.EVENT and (topics == "all" or topic.name in USUAL):
                    name = namespace_of(kind, arm) + topic.name
                    self._readers.append(
                        (name, PolledSubscription(node, topic.message, name, qos.ARM_STATE))
                    )
        self.counts = {name: 0 for name, _ in self._readers}
        self.setpoints: list[float] = []
        self.keeps_setpoints = False

    def listen(self, seconds: float) -> None:
        """Take arriving messages for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for name, reader in self._readers:
                while (data := reader.take()) is not None:
                    self.counts[name] += 1
                    if self.keeps_setpoints and name == "PSM1/setpoint_js":
                        self.setpoints.append(deserialize_message(data, JointState).position[0])
            time.sleep(0.02)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Do what the options ask for, and return the results."""
    rclpy.init(args=[])
    node = Node("bench_client")
    report: dict[str, Any] = {}
    try:
        with SpinningNode(node):
            arms = [Arm(node, name) for name in options.arms]
            for arm in arms:
                arm.home()
        ear = Ear(node, options.arms, options.topics, options.setup_joints)
        ear.listen(2.0)
        ear.counts = dict.fromkeys(ear.counts, 0)
        report["begin_ns"] = time.monotonic_ns()
        if options.stream:
            ear.keeps_setpoints = True
            report["streams"] = [
                ServoStream(node, "PSM1", kind).run(ear, options.seconds)
                for kind in options.stream
            ]
        else:
            ear.listen(options.seconds)
        report["end_ns"] = time.monotonic_ns()
        seconds = (report["end_ns"] - report["begin_ns"]) * 1e-9
        report["rates_hz"] = {name: count / seconds for name, count in ear.counts.items()}
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    return report


def main() -> int:
    """Run once and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", nargs="+", required=True)
    parser.add_argument("--setup-joints", action="store_true")
    parser.add_argument("--topics", choices=("none", "usual", "all"), default="usual")
    parser.add_argument("--stream", nargs="*", default=[], help="servo_jp, servo_jr")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each part")
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    options.report.write_text(json.dumps(run(options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
