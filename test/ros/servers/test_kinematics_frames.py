"""Poses in any frame on tf: static, moving, at a moment; and frames that cannot be used."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from frame_publisher import FramePublisher
from kinematics_client import ARMS, SERVER, TIMEOUT_S, KinematicsClient, is_empty
from rclpy.node import Node
from std_msgs.msg import Header

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.ros.common.conversions import matrices_to_cp
from dvrk_kinematics.ros.common.stamps import write_stamp

ARM = ARMS["PSM1"]
Q = np.array([0.2, -0.1, 0.12, 0.5, 0.3, -0.2])
T_TABLE = se3.make(so3.exp(np.array([0.1, 0.7, -0.4])), np.array([0.05, -0.02, 0.3]))
T_TIP_IN_TABLE = se3.inverse(T_TABLE) @ ARM.forward(Q)
SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def client(run: Any, node: Node) -> KinematicsClient:
    run(SERVER)
    return KinematicsClient(node)


@pytest.fixture(scope="module")
def frames(node: Node) -> FramePublisher:
    return FramePublisher(node)


def ask(client: KinematicsClient, frame: str, T: np.ndarray, stamp_ns: int = 0) -> Any:
    header = Header(frame_id=frame)
    write_stamp(header.stamp, stamp_ns)
    return client.ask("PSM1", "solve_ik", header=header, cp=matrices_to_cp(T), seed=Q)


def ask_until(
    client: KinematicsClient,
    frame: str,
    T: np.ndarray,
    stamp_ns: int = 0,
    refused: str = "",
    before: Callable[[], None] = lambda: None,
) -> Any:
    """Ask until the server has heard what was published: an answer, or a refusal with words."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        before()
        answer = ask(client, frame, T, stamp_ns)
        if (refused in answer.message and not answer.success) if refused else answer.success:
            return answer
        assert time.monotonic() < deadline, answer.message
        time.sleep(0.05)


def test_the_base_is_known_without_tf(client: KinematicsClient) -> None:
    for frame in ("", "PSM1_base", "/PSM1_base"):
        answer = ask(client, frame, ARM.forward(Q))
        np.testing.assert_allclose(answer.jp, Q, atol=1e-9)


def test_poses_in_a_static_frame(client: KinematicsClient, frames: FramePublisher) -> None:
    frames.fix("PSM1_base", "table", T_TABLE)
    frames.fix("table", "corner", se3.translation(np.array([0.1, 0.0, 0.0])))
    answer = ask_until(client, "table", T_TIP_IN_TABLE)
    np.testing.assert_allclose(answer.jp, Q, atol=1e-9)
    T_tip_in_corner = se3.translation(np.array([-0.1, 0.0, 0.0])) @ T_TIP_IN_TABLE
    answer = ask_until(client, "corner", T_tip_in_corner)
    np.testing.assert_allclose(answer.jp, Q, atol=1e-9)


def test_poses_in_a_moving_frame_are_those_of_now(
    client: KinematicsClient, frames: FramePublisher
) -> None:
    T_now = [se3.translation(np.array([0.0, 0.0, 0.1]))]
    with frames.moving("PSM1_base", "camera", lambda: T_now[0]):
        ask_until(client, "camera", np.eye(4))
        T_now[0] = T_TABLE
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = ask(client, "camera", T_TIP_IN_TABLE)
            if answer.success and np.allclose(answer.jp, Q, atol=1e-9):
                break
            assert time.monotonic() < deadline, answer
    ask_until(client, "camera", T_TIP_IN_TABLE, refused="s old; at most 0.5 s is allowed")


def test_a_stamp_says_at_which_moment_frames_are_looked_up(
    client: KinematicsClient, frames: FramePublisher
) -> None:
    now = time.time_ns()
    shift = np.array([0.02, 0.0, 0.0])

    def send(seconds: float) -> None:
        moved = T_TABLE @ se3.translation(seconds * shift)
        frames.send("PSM1_base", "belt", moved, now + round(seconds * SECOND_NS))

    deadline = time.monotonic() + TIMEOUT_S
    while True:
        for seconds in (0.0, 0.5, 1.0):
            send(seconds)
        T = se3.translation(-0.25 * shift) @ T_TIP_IN_TABLE
        answer = ask(client, "belt", T, now + SECOND_NS // 4)
        if answer.success:
            break
        assert time.monotonic() < deadline, answer.message
    np.testing.assert_allclose(answer.jp, Q, atol=1e-9)
    for moment in (now - SECOND_NS, now + 2 * SECOND_NS):
        # Sent again each time: a frame that nobody sends grows old, and is refused for that.
        late = ask_until(
            client, "belt", T, moment, refused="is not known at", before=lambda: send(1.0)
        )
        assert is_empty(late) and "'belt'" in late.message


def test_a_frame_that_nobody_publishes_is_refused_with_those_there_are(
    client: KinematicsClient, frames: FramePublisher
) -> None:
    frames.fix("PSM1_base", "table", T_TABLE)
    frames.fix("island", "palm", np.eye(4))
    ask_until(client, "table", T_TIP_IN_TABLE)
    answer = ask_until(client, "nowhere", np.eye(4), refused="palm")
    assert is_empty(answer)
    assert answer.message.startswith("frame 'nowhere' is not on tf; there are: PSM1_base")
    apart = ask(client, "palm", np.eye(4))
    assert is_empty(apart) and "is not connected with 'PSM1_base'" in apart.message
