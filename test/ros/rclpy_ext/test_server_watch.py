"""Servers whose end is noticed, factors that are heard, and how a slow-down is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import rclpy
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import SpeedScalingFactor
from rclpy.action import ActionServer
from rclpy.context import Context
from rclpy.node import Node
from rclpy.serialization import serialize_message

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.spinning_node import SpinningNode
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer
from dvrk_kinematics.ros.rclpy_ext.server_watch import ServerWatch
from dvrk_kinematics.ros.servers.plan_player import HeardSpeedScaling

pytestmark = pytest.mark.ros

TIMEOUT_S = 30.0


def _until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@contextmanager
def _serving(watching: Node) -> Iterator[None]:
    """Serve as another process does: with a context of its own."""
    context = Context()
    rclpy.init(context=context)
    node = Node("serving", context=context)
    server = DeferredActionServer(node, FollowJointTrajectory, "bridge/PSM7/move", lambda *_: None)
    _until(lambda: bool(watching.count_publishers("bridge/PSM7/move/_action/status")), "it")
    with SpinningNode(node):
        yield
    server.destroy()
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_a_server_that_ends_and_comes_back_is_noticed(spinning: Any) -> None:
    watching = spinning("watching")
    watch = ServerWatch(watching, "bridge/PSM7/move")
    assert watch.silent_s == 0.0, "what never was there is not gone"
    with _serving(watching):
        time.sleep(2.0 * qos.LEASE_S)
        _until(lambda: watch.silent_s == 0.0, "a server that does nothing and lives")
    _until(lambda: watch.silent_s > 0.2, "the end of the server")
    with _serving(watching):
        _until(lambda: watch.silent_s == 0.0, "the server again")


def test_a_server_that_promises_nothing_is_not_taken_for_gone(spinning: Any) -> None:
    watching, serving = spinning("watching"), spinning("serving")
    watch = ServerWatch(watching, "bridge/PSM7/move")
    server = ActionServer(serving, FollowJointTrajectory, "bridge/PSM7/move", lambda _: None)
    _until(lambda: bool(watching.count_publishers("bridge/PSM7/move/_action/status")), "it")
    time.sleep(1.5 * qos.LEASE_S)
    assert watch.silent_s == 0.0
    server.destroy()


@pytest.fixture
def scaling(spinning: Any) -> tuple[HeardSpeedScaling, Callable[[Any], None]]:
    """What hears factors, and what publishes one."""
    hearing, saying = spinning("hearing"), spinning("saying")
    heard = HeardSpeedScaling(hearing, "PSM7")
    publisher = _publisher(saying)
    _until(lambda: publisher.get_subscription_count() > 0, "a match")
    return heard, publisher.publish


def _publisher(node: Node) -> Any:
    return node.create_publisher(
        SpeedScalingFactor, "bridge/PSM7/speed_scaling", qos.SPEED_SCALING
    )


def test_the_newest_factor_is_heard(scaling: Any) -> None:
    heard, publish = scaling
    assert heard.read() == 1.0, "nothing was heard"
    for factor in (0.25, 0.0, 1.0):
        publish(SpeedScalingFactor(factor=factor))
        _until(lambda factor=factor: heard.read() == factor, "the factor")


@pytest.mark.parametrize("factor", [float("nan"), -0.1, 1.5, float("inf")])
def test_factors_that_are_none_change_nothing(scaling: Any, factor: float) -> None:
    heard, publish = scaling
    publish(SpeedScalingFactor(factor=0.5))
    _until(lambda: heard.read() == 0.5, "the factor")
    publish(SpeedScalingFactor(factor=factor))
    publish(serialize_message(SpeedScalingFactor(factor=0.75))[:9])
    # What comes after them is heard, and from then on they would have been as well.
    publish(SpeedScalingFactor(factor=0.25))
    _until(lambda: heard.read() in (0.25, factor, 0.75), "the factor after them")
    assert heard.read() == 0.25


def test_a_factor_that_was_said_before_is_heard(spinning: Any) -> None:
    publisher = _publisher(spinning("saying"))
    publisher.publish(SpeedScalingFactor(factor=0.5))
    heard = HeardSpeedScaling(spinning("hearing"), "PSM7")
    _until(lambda: heard.read() == 0.5, "the factor")
