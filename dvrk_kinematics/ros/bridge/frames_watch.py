"""Whether somebody else publishes transforms of our links.

Two publishers of one frame make it jump between them. To see that, tf must be heard, which costs;
so it is heard for a moment only, when the set of tf's publishers has changed.
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
"""For how many looks tf is heard after a change."""

_QUEUE = 1000
"""Messages that can wait between two looks: five arms at 200 Hz."""

_LAYOUTS = 64


class FramesWatch:
    """Looks for our links in messages of others.

    Args:
        node: The node.
        own: Our messages: the links of each, in order. A message with just these is our own.
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
        """Links that somebody else publishes too; to be called about once a second."""
        infos = [
            info
            for topic in ("/tf", "/tf_static")
            for info in self._node.get_publishers_info_by_topic(topic)
        ]
        key = tuple(sorted(bytes(info.endpoint_gid) for info in infos))
        if key != self._known:
            self._known, self._looks = key, _LOOKS
            # What waits was sent by those that were there before.
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
        # Most messages differ from one before in their numbers only, and are known by that.
        reader = RawReader(TFMessage, ["transforms[].transform"], _LAYOUTS)
        for subscription in self._subscriptions:
            while (message := subscription.take_raw(reader)) is not None:
                transforms = message.template.transforms
                links = tuple(one.child_frame_id.lstrip("/") for one in transforms)
                if links not in self._own:
                    self._found |= self._links.intersection(links)
