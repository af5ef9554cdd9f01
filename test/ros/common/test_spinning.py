"""A node's thread: what it still has to do is done before it ends."""

from __future__ import annotations

import threading

from rclpy.context import Context
from rclpy.node import Node

from dvrk_kinematics.ros.common.spinning_node import SpinningNode

TIMEOUT_S = 30.0


def test_all_that_was_handed_over_is_done_before_the_end(context: Context) -> None:
    node = Node("busy", context=context)
    done: list[int] = []
    with SpinningNode(node) as spinning:
        for k in range(50):
            node.executor.create_task(done.append, k)
        assert spinning.finish_tasks(TIMEOUT_S)
        assert sorted(done) == list(range(50))
    node.destroy_node()


def test_a_thread_that_is_stuck_or_gone_is_not_waited_for(context: Context) -> None:
    node = Node("stuck", context=context)
    release = threading.Event()
    with SpinningNode(node) as spinning:
        node.executor.create_task(release.wait, TIMEOUT_S)
        assert not spinning.finish_tasks(0.1)
        release.set()
        assert spinning.finish_tasks(TIMEOUT_S)
    assert not spinning.finish_tasks(TIMEOUT_S)
    node.destroy_node()
