"""Starts several nodes together and ends them together, again and again, and tells how they ended.

Every node is a process of its own with a middleware of its own. They are forked from this one,
which has imported everything and started nothing of ROS, so that a start takes a tenth of what an
interpreter needs to import rclpy. Prints one line of JSON a round: for each node its name, the
time from the signal to its end (s) and its exit code.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dvrk_kinematics.ros.bridge.node import BridgeNode
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.executables import end_process
from dvrk_kinematics.ros.servers.kinematics_server import KinematicsServer
from dvrk_kinematics.ros.servers.trajectory_server import TrajectoryServer
from dvrk_kinematics.ros.simulator.node import ArmSimulator

NodeT = TypeVar("NodeT", bound=Node)

_prctl = ctypes.CDLL(None).prctl
_PR_SET_PDEATHSIG = 1

TOGETHER = 8
ARM_EVERY = 10
END_S = 10.0
"""After which a node is killed, which its exit code tells."""


class Talker(Node):
    """A bit of everything that has to be taken down, connected to all others of its kind."""

    def __init__(self) -> None:
        super().__init__("talker")
        self._publisher = self.create_publisher(JointState, "talk", 10)
        self.create_subscription(JointState, "talk", lambda _: None, 10)
        self.create_service(Trigger, "ask", lambda _, response: response)
        self._client = self.create_client(Trigger, "ask")
        self._server = ActionServer(self, FollowJointTrajectory, "act", lambda _: None)
        self._action = ActionClient(self, FollowJointTrajectory, "act")
        self.create_timer(0.01, lambda: self._publisher.publish(JointState(name=["a"])))


def ready(node: NodeT, tell: int) -> NodeT:
    """Tell that a node is there."""
    os.write(tell, b".")
    return node


def run_talker(tell: int) -> int:
    """One of the small ones."""
    return run_node(lambda: ready(Talker(), tell), [])


SERVERS: dict[str, Callable[[int], int]] = {
    "kinematics": lambda tell: run_node(lambda: ready(KinematicsServer(), tell), []),
    "trajectory": lambda tell: run_node(
        lambda: ready(TrajectoryServer(), tell), [], on_stop=TrajectoryServer.stop
    ),
}
ARM: dict[str, Callable[[int], int]] = {
    "simulator": lambda tell: run_node(
        lambda: ready(ArmSimulator(), tell), [], on_stop=ArmSimulator.stop
    ),
    "bridge": lambda tell: run_node(
        lambda: ready(BridgeNode(), tell), [], on_stop=BridgeNode.stop
    ),
}
"""These take as long to start as ten others, so that they are there in some rounds only."""


def choose(number: int) -> dict[str, Callable[[int], int]]:
    """The nodes of a round, by its number."""
    chosen = SERVERS | (ARM if number % ARM_EVERY == 0 else {})
    return chosen | {f"talker_{k}": run_talker for k in range(TOGETHER - len(chosen))}


def begin(run: Callable[[int], int], tell: int) -> int:
    """Fork a process that runs a node; gives its id."""
    pid = os.fork()
    if pid == 0:
        # Nothing is left behind if this test is killed.
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # Only what this test says is read as JSON.
        os.dup2(2, 1)
        end_process(run(tell))
    return pid


def play(
    nodes: dict[str, Callable[[int], int]], rng: random.Random
) -> list[tuple[str, float, int]]:
    """One round."""
    hear, tell = os.pipe()
    pids = {begin(run, tell): name for name, run in nodes.items()}
    os.close(tell)
    for _ in pids:
        os.read(hear, 1)
    os.close(hear)
    # From hardly begun to well acquainted: hangs depend on who knows whom when all leave.
    time.sleep(rng.uniform(0.0, 0.3))
    watched = {os.pidfd_open(pid): pid for pid in pids}
    told = {}
    for pid in pids:
        # Each has its own time: this process may be kept waiting between two of them.
        told[pid] = time.monotonic()
        os.kill(pid, signal.SIGINT)
    last = max(told.values())
    ended = []
    while watched:
        found, _, _ = select.select(
            list(watched), [], [], max(0.0, last + END_S - time.monotonic())
        )
        for fd in found or list(watched):
            pid = watched.pop(fd)
            if not found:
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            os.close(fd)
            ended_s = time.monotonic() - told[pid]
            ended.append((pids[pid], ended_s, os.waitstatus_to_exitcode(status)))
    return ended


if __name__ == "__main__":
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for number in range(int(sys.argv[1])):
        sys.stdout.write(json.dumps(play(choose(number), rng)) + "\n")
        sys.stdout.flush()
