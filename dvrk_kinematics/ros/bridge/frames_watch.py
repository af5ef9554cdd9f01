"""Checks whether another node publishes transforms of our links.

Two publishers of one frame make it jump between them. Detecting that takes a costly subscription
to tf, so we subscribe only briefly when the set of tf's publishers has changed.
"""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["FramesWatch"]

_LOOKS = 4
"""For how many looks we listen to tf after a change."""

_QUEUE = 1000
"""Messages that can wait between two looks: five arms at 200 Hz."""

_LAYOUTS = 64


class FramesWatch:
    """Looks for our links in messages of other nodes.

    Args:
        node: The node.
        own: The links of each of our messages, in order. A message with exactly these is our own.
    """

    def __init__(self, node: Node, own: Iterable[tuple[str, ...]]) -> None:
        self._node = node
        self._own = set(own)
        self._links = {link for links in self._own for link in links}
        self._known: tuple[bytes, ...] | None = None
        self._subscriptions: list[PolledSubscription[TFMessage]] = []
        self._looks = 0
        self._found: set[str] = set()

    def look(self) -> list[str]:
        """Our links that another node publishes too; call this about once a second."""
        infos = [
            info
            for topic in ("/tf", "/tf_static")
            for info in self._node.get_publishers_info_by_topic(topic)
        ]
        key = tuple(sorted(bytes(info.endpoint_gid) for info in infos))
        if key != self._known:
            self._known, self._looks = key, _LOOKS
            # The messages in the queue came from the previous publishers.
            self._read()
            self._found.clear()
            if not self._subscriptions:
                profiles = (("/tf", qos.TF), ("/tf_static", qos.TF_STATIC))
                self._subscriptions = [
                    PolledSubscription(
                        self._node, TFMessage, topic, qos.with_depth(profile, _QUEUE)
                    )
                    for topic, profile in profiles
                ]
        self._read()
        if self._looks == 0:
            for subscription in self._subscriptions:
                subscription.close()
            self._subscriptions.clear()
        self._looks = max(0, self._looks - 1)
        return sorted(self._found)

    def _read(self) -> None:
        # Most messages differ from an earlier one only in their numbers, so the layout is known.
        reader = RawReader(TFMessage, ["transforms[].transform"], _LAYOUTS)
        for subscription in self._subscriptions:
            while (message := subscription.take_raw(reader)) is not None:
                transforms = message.template.transforms
                links = tuple(one.child_frame_id.lstrip("/") for one in transforms)
                if links not in self._own:
                    self._found |= self._links.intersection(links)
