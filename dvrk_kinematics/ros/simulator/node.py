"""The node arm_simulator: arms that nothing on the wire can tell from those of a dVRK.

One loop in its own thread does everything in order: it executes the commands that arrived, lets
the arms make one control cycle, and sends events and states. It simulates two threads of the dVRK:
the one that makes the data, which stalls now and then, and the one that still publishes the newest
datum. The executor answers only services and parameters; a lock separates it from the loop.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Sequence

from rclpy.node import Node

from dvrk_kinematics.ros.common.parameters import Parameters
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.sole_publisher import claim_topic
from dvrk_kinematics.ros.common.steady_loop import SteadyLoop, Tick
from dvrk_kinematics.ros.crtk.contract import (
    CONTRACT,
    NODE_NAME,
    Kind,
    Rate,
    kind_of,
    namespace_of,
)
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer
from dvrk_kinematics.ros.simulator.command_queue import ARM_READERS, CommandQueue
from dvrk_kinematics.ros.simulator.event_publishers import EventPublishers
from dvrk_kinematics.ros.simulator.faults import offer_faults
from dvrk_kinematics.ros.simulator.services import offer_services
from dvrk_kinematics.ros.simulator.settings import SimulatorSettings
from dvrk_kinematics.ros.simulator.stamps import DatumStamps, EventStamps, random_of
from dvrk_kinematics.ros.simulator.state_publishers import (
    StateGate,
    StatePublishers,
    TransformPublisher,
)
from dvrk_kinematics.ros.simulator.system_commands import SystemCommands
from dvrk_kinematics.simulation import (
    ArmSpec,
    ArmThread,
    ClockReadings,
    KinematicPlant,
    SimulatedArm,
    SimulatedSuj,
    SimulatedSystem,
    SystemOptions,
    ToolDetection,
)

__all__ = ["ArmSimulator", "main", "make_system"]

_WATCH_S = 0.5
"""How often the executor checks whether the loop still runs."""


class ArmSimulator(Node):
    """All arms of the process."""

    def __init__(self) -> None:
        super().__init__(NODE_NAME)
        self.parameters = Parameters(self, SimulatorSettings)
        settings = self.parameters.values
        self.system = make_system(settings)
        for arm in self.system.arms.values():
            topic = f"{namespace_of(Kind(arm.kind), arm.name)}measured_js"
            claim_topic(self, topic, f"simulator of {arm.name}")
        self._lock = threading.Lock()
        self._thread = ArmThread(random_of(settings.seed, "thread"), settings.stalls)
        self._datum_ns = 0
        self._stamps = EventStamps(self._read_clock)
        self._datum_stamps = DatumStamps(
            self._read_clock,
            ClockReadings(random_of(settings.seed, "readings")),
            is_simulated=bool(self.get_parameter("use_sim_time").value),
        )
        self._commands = CommandQueue(self)
        self._events: list[tuple[SimulatedArm | SimulatedSuj, EventPublishers]] = []
        self._states: list[tuple[int, StatePublishers]] = []
        for arm in self.system.arms.values():
            self._add_arm(arm)
        for suj in self.system.sujs.values():
            self._add_setup_joints(suj, every=round(settings.rate / settings.setup_joint_rate))
        self._add_system()
        self._tf = TransformPublisher(
            self, CONTRACT[Kind.PROCESS].topic("tf"), namespace_of(Kind.PROCESS)
        )
        self._tf_every = round(settings.rate / settings.tf_rate)
        self.loop = SteadyLoop(
            1.0 / settings.rate,
            self._tick,
            # The collector never scans the objects that exist now again, so a collection takes
            # less than 1 ms and can run at any time.
            is_at_rest=lambda: True,
            on_error=lambda _: None,
            name="arms",
        )
        create_steady_timer(self, _WATCH_S, self._watch)
        gc.collect()
        gc.freeze()
        self.loop.start()
        others = " and setup joints" if settings.setup_joints else ""
        self.get_logger().info(
            f"simulated {', '.join(settings.arms)}{others} at {settings.rate:g} Hz, as a dVRK "
            f"wakes up: {settings.arms[0]}/state_command takes enable and home"
        )

    def stop(self) -> None:
        """End the loop, and stop publishing."""
        self.loop.stop()
        self._commands.close()
        self._tf.close()
        for _, states in self._states:
            states.close()

    def _read_clock(self) -> int:
        return self.get_clock().now().nanoseconds

    def _add_arm(self, arm: SimulatedArm) -> None:
        kind = Kind(arm.kind)
        interface, namespace = CONTRACT[kind], namespace_of(kind, arm.name)
        gate = StateGate()
        states = [topic for topic in interface.published if topic.rate is Rate.STATE]
        events = [topic for topic in interface.published if topic.rate is Rate.EVENT]
        self._states.append((1, StatePublishers(self, states, namespace, arm.readings, gate)))
        self._events.append((arm, EventPublishers(self, events, namespace, self._stamps)))
        self._commands.listen(interface.subscribed, namespace, arm.commands, ARM_READERS)
        offer_services(self, interface.services, namespace, arm, self._lock)
        if self.parameters.values.faults:
            offer_faults(self, arm, gate, lambda: self.parameters.values, self._lock)

    def _add_setup_joints(self, suj: SimulatedSuj, every: int) -> None:
        interface, namespace = CONTRACT[Kind.SUJ], namespace_of(Kind.SUJ, suj.name)
        states = [topic for topic in interface.published if topic.rate is Rate.SETUP]
        events = [topic for topic in interface.published if topic.rate is Rate.EVENT]
        self._states.append(
            (every, StatePublishers(self, states, namespace, suj.readings, StateGate()))
        )
        self._events.append((suj, EventPublishers(self, events, namespace, self._stamps)))
        self._commands.listen(interface.subscribed, namespace, suj.commands, {})

    def _add_system(self) -> None:
        interface, namespace = CONTRACT[Kind.SYSTEM], namespace_of(Kind.SYSTEM)
        events = EventPublishers(self, interface.published, namespace, self._stamps)
        commands = SystemCommands(self.system, events, self.get_logger())
        self._commands.listen(interface.subscribed, namespace, commands.by_topic, {})
        if self.system.sujs:
            setup = CONTRACT[Kind.SETUP]
            self._commands.listen(
                setup.subscribed,
                namespace_of(Kind.SETUP),
                {"set_reference_arm": self.system.set_reference_arm},
                {},
            )

    def _tick(self, tick: Tick) -> None:
        """Publish the newest datum, whether new or not."""
        with self._lock:
            datum_ns = self._thread.newest_ns(tick.now_ns)
            if datum_ns != self._datum_ns:
                self._datum_ns = datum_ns
                self._cycle(datum_ns)
            self._publish_state(tick)

    def _cycle(self, datum_ns: int) -> None:
        """Run one control cycle."""
        self._commands.act()
        self.system.step(datum_ns)
        for source, events in self._events:
            events.publish(source.take_events())

    def _publish_state(self, tick: Tick) -> None:
        stamps = self._datum_stamps
        stamps.begin(self._datum_ns)
        for every, states in self._states:
            if tick.number % every == 0:
                states.publish(stamps, tick.now_ns)
        if tick.number % self._tf_every == 0 and self._tf.is_heard():
            self._tf.publish(self.system.transforms(), stamps)

    def _watch(self) -> None:
        """Fail if the loop fails: a node without its arms would be useless."""
        if self.loop.error is not None:
            raise self.loop.error


def make_system(settings: SimulatorSettings) -> SimulatedSystem:
    """Make the arms that the parameters request.

    Raises:
        DvrkError: If there is no such instrument or endoscope.
    """
    tools = {Kind.PSM: settings.instrument, Kind.ECM: settings.endoscope}
    specs = [
        ArmSpec(
            name,
            tool=tools.get(kind_of(name), ""),
            tool_detection=ToolDetection(settings.tool_detection),
            plant=KinematicPlant(settings.servo_lag),
        )
        for name in settings.arms
    ]
    options = SystemOptions(
        with_suj=settings.setup_joints, reset_joints_on_enable=settings.reset_joints_on_enable
    )
    return SimulatedSystem(specs, options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is told to stop."""
    return run_node(ArmSimulator, arguments, on_stop=ArmSimulator.stop, executable="arm_simulator")


if __name__ == "__main__":
    sys.exit(main())
