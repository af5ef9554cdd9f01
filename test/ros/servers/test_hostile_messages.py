"""No message, goal, request or parameter ends a node, and none moves an arm unasked.

Every topic, service, action and parameter of a running system gets bytes that are damaged and
messages that hold extremes; what there is to send to is found on the graph. DVRK_CAMPAIGN=20 sends
twenty times as much. Damaged bytes reach topics only: rclpy publishes no bytes to a service or an
action, whose requests hold extremes instead.
"""

from __future__ import annotations

import random
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration as DurationMessage
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import JointJog, SpeedScalingFactor
from dvrk_kinematics_interfaces.action import Move, TraceBlockO
from dvrk_kinematics_interfaces.srv import SolveIk
from geometry_msgs.msg import TwistStamped
from hostile import damaged, extremes, scaled
from motion_client import SUCCEEDED, MotionClient, abs_j, make_processes
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import ListParameters, SetParameters
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from running_process import RunningProcess
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.bringup.processes import Process, recording, simulated_arms
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer
from dvrk_kinematics.ros.recorder.type_definition import find_message_class

SPACE, ALONE = "hostile", "alone"
FOLLOW = "bridge/PSM1/follow_joint_trajectory"
SEED = 9
TIMEOUT_S = 90.0
PACE_S = 0.006
"""A little more than a period: loops keep the newest command only."""

NODES = {
    "dvrk": SPACE,
    "bridge_PSM1": SPACE,
    "kinematics_server": SPACE,
    "trajectory_server": SPACE,
    "recorder": SPACE,
}
LARGE = 2_000_000
"""Numbers or letters of a message that is far too large."""

MOST_MB = 120.0
"""How much a node may hold more after it all than before."""


@dataclass
class Victims:
    """A whole system, an arm that everybody may command, and what they held at first."""

    processes: dict[str, RunningProcess]
    client: MotionClient
    bytes_before: dict[str, int]

    def check_alive(self) -> None:
        """Every process runs, and none has said that it failed."""
        ended = {name: p.output for name, p in self.processes.items() if not p.is_running}
        assert not ended, ended


@pytest.fixture(scope="module")
def victims(
    run: Callable[[Process], RunningProcess], node: Node, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Victims]:
    folder = tmp_path_factory.mktemp("hostile")
    arms = ["PSM1"]
    system = [
        *make_processes(arms, str(folder), SPACE),
        Process("kinematics_server", SPACE, parameters={"arms": arms}),
        recording(arms, Path(folder / "bag"), SPACE),
        simulated_arms(arms, ALONE),
    ]
    names = ["dvrk", "bridge_PSM1", "trajectory_server", "kinematics_server", "recorder", ALONE]
    processes = {name: run(process) for name, process in zip(names, system, strict=True)}
    client = MotionClient(node, "PSM1", SPACE)
    client.until(lambda: client.commands.is_connected, "the bridge's commands")
    awaited = {(own, f"/{space}") for own, space in (*NODES.items(), ("dvrk", ALONE))}
    client.until(lambda: _nodes(node) >= awaited, "all nodes")
    started = Victims(processes, client, {n: p.memory_bytes for n, p in processes.items()})
    yield started
    started.check_alive()


def test_no_message_ends_a_node_or_moves_an_arm(victims: Victims, node: Node) -> None:
    rng = random.Random(SEED)
    topics: dict[str, str] = {}

    def has_found_all() -> bool:
        """Nodes are seen before what they subscribe to."""
        topics.update(_topics(node))
        return {"/tf", f"/{SPACE}/bridge/PSM1/jog", f"/{ALONE}/PSM1/servo_jp"} <= set(topics)

    victims.client.until(has_found_all, "the topics of all nodes")
    with victims.client.commands.silence():
        _flood(node, rng, {name: find_message_class(kind) for name, kind in topics.items()})
    victims.check_alive()


def _topics(node: Node) -> dict[str, str]:
    """What is heard by nodes that must survive, with the types."""
    return {
        name: kinds[0]
        for own, space in NODES.items()
        # What is sent to the arm itself moves it; another arm gets that.
        for name, kinds in node.get_subscriber_names_and_types_by_node(own, f"/{space}")
        if own != "dvrk" and "/_action/" not in name and not _is_command(name)
    } | dict(_commands_of(node, ALONE))


def test_no_message_is_so_large_that_it_stays_in_the_memory(victims: Victims, node: Node) -> None:
    names = [f"/{SPACE}/PSM1/measured_js", f"/{ALONE}/PSM1/servo_jp", f"/{SPACE}/bridge/PSM1/jog"]
    kinds = [JointState, JointState, TwistStamped]
    large = {
        JointState: JointState(position=array("d", bytes(8 * LARGE))),
        TwistStamped: TwistStamped(header=Header(frame_id="x" * LARGE)),
    }
    with victims.client.commands.silence():
        for name, kind in zip(names, kinds, strict=True):
            publisher = node.create_publisher(kind, name, qos.COMMAND)
            victims.client.until(publisher.get_subscription_count, name)
            for _ in range(scaled(3)):
                publisher.publish(large[kind])
                assert publisher.wait_for_all_acked(Duration(seconds=TIMEOUT_S))
            node.executor.create_task(node.destroy_publisher, publisher)
    victims.check_alive()


def test_no_request_ends_a_node(victims: Victims, node: Node) -> None:
    rng = random.Random(SEED + 1)
    with victims.client.commands.silence():
        for own, space in NODES.items():
            for name, kinds in node.get_service_names_and_types_by_node(own, f"/{space}"):
                if name.endswith("/_action/send_goal"):
                    continue
                kind = _service_class(kinds[0])
                if kind is Trigger:
                    # It holds nothing, and would do what it says.
                    continue
                client = node.create_client(kind, name)
                for request in extremes(kind.Request, rng, scaled(8)):
                    answer = call(client, request, TIMEOUT_S)
                    assert isinstance(answer, kind.Response), name
    victims.check_alive()


def test_no_parameter_ends_a_node(victims: Victims, node: Node) -> None:
    rng = random.Random(SEED + 2)
    with victims.client.commands.silence():
        for own, space in NODES.items():
            start = f"/{space}/{own}"
            listing = node.create_client(ListParameters, f"{start}/list_parameters")
            names = call(listing, ListParameters.Request(), TIMEOUT_S).result.names
            assert "use_sim_time" in names, (own, victims.processes[own].output)
            setting = node.create_client(SetParameters, f"{start}/set_parameters")
            values = list(extremes(ParameterValue, rng, scaled(4)))
            values += [ParameterValue(type=kind) for kind in (*range(12), 255)]
            asked = [
                Parameter(name=name, value=v) for name in (*names, "", "no/such") for v in values
            ]
            request = SetParameters.Request(parameters=asked)
            answer = call(setting, request, TIMEOUT_S)
            assert len(answer.results) == len(asked)
            refused = [r for p, r in zip(asked, answer.results, strict=True) if p.value.type > 9]
            assert refused and all("no type of value" in r.reason for r in refused)
    victims.check_alive()


def test_no_goal_ends_a_node_or_moves_an_arm_that_was_not_enabled(
    victims: Victims, node: Node
) -> None:
    rng = random.Random(SEED + 3)
    with victims.client.commands.silence():
        _send_goals(victims, node, rng)
        _send_goals_of(victims, node, FollowJointTrajectory, FOLLOW, [_a_nanosecond_apart()])
    victims.check_alive()


def test_an_enabled_arm_keeps_to_its_limits_whatever_it_is_asked(
    victims: Victims, node: Node
) -> None:
    rng, client = random.Random(SEED + 4), victims.client
    _at_full_speed(node)
    client.get_ready()
    start = f"/{SPACE}/bridge/PSM1"
    _flood(node, rng, {f"{start}/jog": TwistStamped, f"{start}/jog_joints": JointJog})
    client.do("hold")
    before = client.commands.mark()
    _decay(node)
    assert client.commands.mark() > before, "the jog did not move"
    _send_goals(victims, node, rng)
    client.do("hold")
    client.commands.check()
    victims.check_alive()


def test_after_all_that_every_node_still_serves(victims: Victims, node: Node) -> None:
    client = victims.client
    _at_full_speed(node)
    client.get_ready()
    client.reach([0.1, 0.0, 0.12, 0.0, 0.1, 0.0])
    moved = client.move(abs_j([0.0, 0.1, 0.12, 0.0, 0.0, 0.1], speed=1.0, acceleration=1.0))
    assert moved.status == SUCCEEDED, moved.result.message
    solve = node.create_client(SolveIk, f"/{SPACE}/kinematics/PSM1/solve_ik")
    T = [0.0, 0.0, -0.1, 0.0, 1.0, 0.0, 0.0]
    solved = call(solve, SolveIk.Request(cp=T), TIMEOUT_S)
    assert solved.success and np.isfinite(solved.jp).all()
    asked = node.create_client(Trigger, f"/{ALONE}/PSM1/crtk_version")
    assert call(asked, Trigger.Request(), TIMEOUT_S).success
    grown = {
        name: (process.memory_bytes - victims.bytes_before[name]) * 1e-6
        for name, process in victims.processes.items()
        # What it is sent is what it is for, however large.
        if name != "recorder"
    }
    assert max(grown.values()) < MOST_MB, grown
    victims.check_alive()


def _service_class(type_name: str) -> Any:
    action, is_result, _ = type_name.partition("_GetResult")
    return (
        find_message_class(action).Impl.GetResultService
        if is_result
        else find_message_class(action)
    )


def _nodes(node: Node) -> set[tuple[str, str]]:
    return set(node.get_node_names_and_namespaces())


def _is_command(topic: str) -> bool:
    """Whether an arm acts on it; the bridge hears a few of them, too."""
    name = topic.rpartition("/")[2]
    return name in ("hold", "free", "state_command") or name.startswith(("servo_", "move_"))


def _commands_of(node: Node, space: str) -> list[tuple[str, str]]:
    found = node.get_subscriber_names_and_types_by_node("dvrk", f"/{space}")
    return [(name, kinds[0]) for name, kinds in found]


def _flood(node: Node, rng: random.Random, topics: dict[str, Any]) -> None:
    """Send damaged bytes and extremes to all topics, one of each in a period."""
    publishers = {
        # Latched, as some of the readers want it; the others do not mind.
        name: node.create_publisher(kind, name, qos.DESCRIPTION)
        for name, kind in topics.items()
    }
    queues: dict[str, list[Any]] = {}
    for name, kind in topics.items():
        queue: list[Any] = list(extremes(kind, rng, scaled(40)))
        queue += [d for message in queue[:4] for d in damaged(message, rng, scaled(12))]
        rng.shuffle(queue)
        queues[name] = queue
    while any(queues.values()):
        for name, queue in queues.items():
            if queue:
                # More than a type of fixed size can hold is refused by our own middleware.
                with suppress(rclpy_implementation.RCLError):
                    publishers[name].publish(queue.pop())
        time.sleep(PACE_S)
    for publisher in publishers.values():
        node.executor.create_task(node.destroy_publisher, publisher)


def _at_full_speed(node: Node) -> None:
    """Take back what was said about the speed, which may well have been to stand still."""
    topic = f"/{SPACE}/bridge/PSM1/speed_scaling_input"
    publisher = node.create_publisher(SpeedScalingFactor, topic, qos.DESCRIPTION)
    publisher.publish(SpeedScalingFactor(factor=1.0))


def _decay(node: Node) -> None:
    """A filter that decays after release: from a turn to the smallest number there is."""
    publisher = node.create_publisher(TwistStamped, f"/{SPACE}/bridge/PSM1/jog", qos.COMMAND)
    while not publisher.get_subscription_count():
        time.sleep(0.01)
    message = TwistStamped()
    message.header.frame_id = "tool"
    # What was refused before must be let go of first.
    turning = [*[0.0] * 50, *[0.3] * 50, *(0.3 * 10.0 ** (-3 * k) for k in range(108)), 0.0]
    for speed in turning:
        message.twist.angular.x = speed
        publisher.publish(message)
        time.sleep(PACE_S)
    node.executor.create_task(node.destroy_publisher, publisher)


def _send_goals(victims: Victims, node: Node, rng: random.Random) -> None:
    """Send goals of every action, cancel all, and wait until each has its result."""
    for kind, name in (
        (FollowJointTrajectory, FOLLOW),
        (ParallelGripperCommand, "bridge/PSM1/gripper_cmd"),
        (Move, "trajectory/PSM1/move"),
        (TraceBlockO, "trajectory/PSM1/trace_block_o"),
    ):
        _send_goals_of(victims, node, kind, name, extremes(kind.Goal, rng, scaled(12)))


def _send_goals_of(
    victims: Victims, node: Node, kind: Any, name: str, goals: Iterable[Any]
) -> None:
    client = ActionClient(node, kind, f"/{SPACE}/{name}")
    assert client.wait_for_server(TIMEOUT_S)
    for goal in goals:
        ended: list[Any] = []
        _send_and_cancel(node, client, goal, ended)
        deadline = time.monotonic() + TIMEOUT_S
        while not ended:
            assert time.monotonic() < deadline, f"{name}: {goal}"
            victims.check_alive()
            time.sleep(0.002)
    node.executor.create_task(client.destroy)


def _a_nanosecond_apart() -> Any:
    """Two points whose times, as seconds, are the same number."""
    points = [
        JointTrajectoryPoint(positions=[q, 0.0, 0.12, 0.0, 0.0, 0.0]) for q in (0.0, 0.1, 0.0)
    ]
    for nanosec, point in enumerate(points):
        point.time_from_start = DurationMessage(sec=10**9, nanosec=nanosec)
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(load_arm("PSM").joint_names)
    goal.trajectory.points = points
    return goal


def _send_and_cancel(node: Node, client: ActionClient, goal: Any, ended: list[Any]) -> None:
    """Send a goal from the spinning thread; what does not end by itself soon is cancelled."""

    def begin() -> None:
        client.send_goal_async(goal).add_done_callback(accepted)

    def accepted(future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            ended.append(handle)
            return
        handle.get_result_async().add_done_callback(ended.append)
        timer = create_steady_timer(node, 0.3, lambda: cancel(handle, timer))

    def cancel(handle: Any, timer: Any) -> None:
        node.destroy_timer(timer)
        if not ended:
            handle.cancel_goal_async()

    node.executor.create_task(begin)
