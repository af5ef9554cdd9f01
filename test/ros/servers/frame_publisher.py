"""Frames on tf that tests publish."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import matrix_to_transform
from dvrk_kinematics.ros.common.stamps import write_stamp


class FramePublisher:
    """Publishes frames, static and moving.

    Args:
        node: A spinning node.
    """

    def __init__(self, node: Node) -> None:
        self._static = node.create_publisher(TFMessage, "/tf_static", qos.TF_STATIC)
        self._moving = node.create_publisher(TFMessage, "/tf", qos.TF)

    def fix(self, parent: str, child: str, T: np.ndarray) -> None:
        """Publish a frame that never moves, T_parent_child of shape (4, 4)."""
        self._static.publish(_message(parent, child, T, time.time_ns()))

    def send(self, parent: str, child: str, T: np.ndarray, stamp_ns: int) -> None:
        """Publish where a moving frame is at a moment (ns)."""
        self._moving.publish(_message(parent, child, T, stamp_ns))

    @contextmanager
    def moving(self, parent: str, child: str, pose: Callable[[], np.ndarray]) -> Iterator[None]:
        """Publish a frame fifty times a second for as long as a with-block lasts."""
        ended = threading.Event()

        def work() -> None:
            while not ended.wait(0.02):
                self.send(parent, child, pose(), time.time_ns())

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _message(parent: str, child: str, T: np.ndarray, stamp_ns: int) -> TFMessage:
    stamped = TransformStamped(child_frame_id=child, transform=matrix_to_transform(T))
    stamped.header.frame_id = parent
    write_stamp(stamped.header.stamp, stamp_ns)
    return TFMessage(transforms=[stamped])
