"""The node recorder: writes topics to a bag where rosbag2 is not installed.

It takes messages as bytes and writes them unchanged. Messages latched earlier count as received
when the recording began, so that a bag starts with the state at that time. The node subscribes to
a topic of the standard list before anybody publishes it, to catch the first message; to any other
as soon as a publisher reports its type.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

from dvrk_kinematics.errors import BagError, InvalidInput
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.parameters import Parameters
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.user_path import user_path
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer
from dvrk_kinematics.ros.recorder.bag_file import BagFile
from dvrk_kinematics.ros.recorder.diagnostics import describe, sum_up
from dvrk_kinematics.ros.recorder.loss_counter import LossCounter
from dvrk_kinematics.ros.recorder.settings import RecorderSettings, default_folder
from dvrk_kinematics.ros.recorder.topic_reader import Taken, TopicReader, fit_to_offers
from dvrk_kinematics.ros.recorder.topics import RecordedTopic, choose_topics, find_unheard

__all__ = ["Recorder", "main"]

_TAKE_EVERY_S = 0.02
_LOOK_EVERY_S = 0.25
"""How often to look up the publishers."""

_TELL_EVERY_S = 1.0

_UNHEARD_S = 3.0
"""After this time we report which arms have sent nothing yet."""


class Recorder(Node):
    """Records until it is stopped, or for the duration that its parameter sets."""

    def __init__(self) -> None:
        super().__init__("recorder")
        settings = self._settings = Parameters(self, RecorderSettings).values
        self._topics = choose_topics(settings.arms, settings.topics, self.get_namespace())
        given = settings.output
        self.bag = BagFile(user_path(given, "output") if given else default_folder())
        self._begin_ns = time.time_ns()
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.STATE)
        self._readers: dict[str, TopicReader] = {}
        self._refused: set[str] = set()
        # Another thread stops the node while the executor spins. Code that takes messages holds
        # the lock until they are written, and so does code that adds topics: the bag is closed
        # only in between.
        self._lock = threading.Lock()
        self._is_closed = False
        self.is_complete = True
        """Whether the bag holds what was requested; false once the disk was full, and at the end
        if an arm was never heard."""
        self._read_known()
        create_steady_timer(self, _TAKE_EVERY_S, self._take)
        create_steady_timer(self, _LOOK_EVERY_S, self._look)
        create_steady_timer(self, _TELL_EVERY_S, self._tell)
        self._waiting = create_steady_timer(self, _UNHEARD_S, self._tell_unheard)
        if settings.duration:
            create_steady_timer(self, settings.duration, self._end)
        self.get_logger().info(f"recording {len(self._topics)} topics to {self.bag.folder}")

    def stop(self) -> None:
        """Write what has arrived, and complete the bag."""
        with self._lock:
            if self._is_closed:
                return
            # If there is no space for it, closing reports that.
            with suppress(OSError):
                self._write(self._take_all())
            self._close()

    def _close(self) -> None:
        """Complete the bag, and report its contents; the caller holds the lock."""
        self._is_closed = True
        losses = self._losses()
        counts = {name: counter.lost for name, counter in losses.items()}
        try:
            self.bag.close({"lost": json.dumps(counts)})
        except BagError as error:
            self.is_complete = False
            self.get_logger().fatal(str(error))
        else:
            self.get_logger().info(sum_up(self.bag.folder, self.bag.messages, losses))
        unheard = self._unheard()
        if unheard:
            self.is_complete = False
            self.get_logger().error(f"never heard: {', '.join(unheard)}")

    def _end(self) -> None:
        self.stop()
        rclpy.try_shutdown(context=self.context)

    def _read_known(self) -> None:
        for topic in self._topics:
            if topic.type_name:
                self._add_reader(topic, topic.type_name)

    def _add_reader(self, topic: RecordedTopic, type_name: str) -> None:
        offers = [info.qos_profile for info in self.get_publishers_info_by_topic(topic.name)]
        try:
            fitting = fit_to_offers(topic.qos, offers)
            reader = TopicReader(self, topic, type_name, fitting, self._begin_ns)
        except InvalidInput as error:
            self._refuse(topic.name, str(error))
        else:
            self._readers[topic.name] = reader

    def _look(self) -> None:
        """Follow the publishers: find unknown types, and request the QoS that is offered."""
        for topic in self._topics:
            offers = self.get_publishers_info_by_topic(topic.name)
            with self._lock:
                if offers and topic.name not in self._refused and not self._is_closed:
                    self._follow(topic, offers)

    def _follow(self, topic: RecordedTopic, offers: Sequence[TopicEndpointInfo]) -> None:
        """Read a topic with the QoS that its publishers offer; the caller holds the lock."""
        reader = self._readers.get(topic.name)
        if reader is None:
            self._add_reader(topic, offers[0].topic_type)
            return
        others = {info.topic_type for info in offers} - {reader.type_name}
        if others:
            self._refuse(topic.name, f"also of type {', '.join(sorted(others))}")
        arrived = reader.follow(offers)
        if arrived is not None:
            self.get_logger().warning(f"{topic.name} is now read as its publishers offer it")
            self._write_or_end(arrived)

    def _refuse(self, name: str, reason: str) -> None:
        self._refused.add(name)
        self.get_logger().error(f"{name}: not all is recorded: {reason}")

    def _tell(self) -> None:
        with self._lock:
            node = self.get_fully_qualified_name()
            told = describe(node, self.bag.folder, self.bag.messages, self._losses())
        told.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(told)

    def _tell_unheard(self) -> None:
        self._waiting.cancel()
        with self._lock:
            unheard = self._unheard()
        if unheard:
            self.get_logger().warning(
                f"waiting for {', '.join(unheard)}: nothing arrives yet; is the arm there?"
            )

    def _unheard(self) -> list[str]:
        arms, topics = self._settings.arms, self._settings.topics
        recorded = {name for name, count in self.bag.messages.items() if count}
        return find_unheard(arms, topics, self.get_namespace(), recorded)

    def _losses(self) -> dict[str, LossCounter]:
        return {name: self._readers[name].losses for name in self.bag.messages}

    def _take(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._write_or_end(self._take_all())

    def _write_or_end(self, arrived: list[Taken]) -> None:
        """Write, or end with what fits if the disk is full; the caller holds the lock."""
        try:
            self._write(arrived)
        except OSError:
            self._close()
            rclpy.try_shutdown(context=self.context)

    def _take_all(self) -> list[Taken]:
        return [taken for reader in self._readers.values() for taken in reader.take()]

    def _write(self, arrived: list[Taken]) -> None:
        for received_ns, reader, data in sorted(arrived, key=attrgetter("received_ns")):
            name = reader.topic.name
            if name not in self.bag.messages:
                self.bag.add_topic(name, reader.type_name, reader.qos, reader.topic.played_depth)
            self.bag.write(name, received_ns, data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is told to stop."""

    def stop(recorder: Recorder) -> int:
        recorder.stop()
        return int(not recorder.is_complete)

    return run_node(Recorder, arguments, on_stop=stop, executable="recorder")


if __name__ == "__main__":
    sys.exit(main())
