"""A report's data from a bag, as arrays on one time axis.

Times are seconds since the bag's first message, on the clock of the machine that recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

from dvrk_kinematics.geometry.arrays import Array

__all__ = [
    "ArmRecording",
    "PlannedPath",
    "RecordedFlightPlan",
    "RecordedJoints",
    "RecordedSpeed",
    "Recording",
    "TipStream",
    "TopicCount",
]


@dataclass(frozen=True, slots=True)
class RecordedJoints:
    """One topic of joint states.

    Attributes:
        times: Increasing times (s), shape (N,).
        names: The joints.
        position: Positions (rad, m), shape (N, n).
        velocity: Velocities (rad/s, m/s), shape (N, n); None if the topic carries none.
        is_stamped: Whether times are the messages' stamps; if not, they are their arrival times.
    """

    times: Array
    names: tuple[str, ...]
    position: Array
    velocity: Array | None
    is_stamped: bool


@dataclass(frozen=True, slots=True)
class TipStream:
    """One topic of tip poses.

    Attributes:
        times: Increasing times (s), shape (N,).
        position: Positions (m), shape (N, 3).
        frame_id: Frame in which they are given.
    """

    times: Array
    position: Array
    frame_id: str


@dataclass(frozen=True, slots=True)
class PlannedPath:
    """A motion as it was planned.

    Attributes:
        start: Its planned start (s); None if the plan does not state it.
        announced: When the plan arrived (s).
        names: The joints.
        times: Time from start of each knot (s), shape (K,).
        position: Positions (rad, m), shape (K, n).
        velocity: Velocities, shape (K, n); None for straight lines in between.
        acceleration: Accelerations, shape (K, n); None for cubics in between.
    """

    start: float | None
    announced: float
    names: tuple[str, ...]
    times: Array
    position: Array
    velocity: Array | None
    acceleration: Array | None


@dataclass(frozen=True, slots=True)
class RecordedFlightPlan:
    """What was proven about a motion before it started.

    Attributes:
        announced: When it arrived (s).
        duration: Planned duration of the motion (s).
        position_deviation: Largest distance of the planned path from the exact one (m).
        rotation_deviation: Largest angle between them (rad).
    """

    announced: float
    duration: float
    position_deviation: float
    rotation_deviation: float


@dataclass(frozen=True, slots=True)
class RecordedSpeed:
    """How fast motions were played, as a fraction of their planned speed.

    Attributes:
        times: When the factor changed (s), shape (N,); it holds until the next change.
        factor: 1 as planned, 0 at rest on the path; shape (N,).
    """

    times: Array
    factor: Array


@dataclass(frozen=True, slots=True)
class ArmRecording:
    """A bag's data on one arm.

    Attributes:
        name: The arm's name on the graph, such as ``PSM1`` or ``lab/PSM1``.
        tool_type: The last tool that it reported; "" if none.
        description: Its robot_description, a URDF; "" if there is none.
        measured: Where its joints were.
        setpoint: Where its controller wanted them.
        command: What was sent to it as servo_jp.
        tip: Where its tip was, as the arm itself reports it.
        paths: The motions planned for it, oldest first.
        scaling: How fast they were played; None if that was not recorded.
        flight_plans: What was proven about them, oldest first.
        hardware: "simulated" or "dvrk", as its bridge reported; "" if it did not.
        slow_downs: Its bridge's count of slow-downs by lateness; None if not reported.
    """

    name: str
    tool_type: str
    description: str
    measured: RecordedJoints
    setpoint: RecordedJoints | None
    command: RecordedJoints | None
    tip: TipStream | None
    paths: tuple[PlannedPath, ...]
    scaling: RecordedSpeed | None = None
    flight_plans: tuple[RecordedFlightPlan, ...] = ()
    hardware: str = ""
    slow_downs: int | None = None


@dataclass(frozen=True, slots=True)
class TopicCount:
    """How much of a topic is in a bag.

    Attributes:
        name: The topic.
        type_name: Its type.
        messages: How many messages there are.
        lost: How many are missing; None if the recorder did not count them.
    """

    name: str
    type_name: str
    messages: int
    lost: int | None


@dataclass(frozen=True, slots=True)
class Recording:
    """All data that a report takes from a bag.

    Attributes:
        bag: Where the bag is.
        start_ns: Time of its first message (ns, system time).
        duration: From the first to the last message (s).
        topics: What it holds.
        arms: The arms whose joints were recorded.
        remarks: Problems, and the data left out because of them, as sentences.
    """

    bag: str
    start_ns: int
    duration: float
    topics: tuple[TopicCount, ...]
    arms: tuple[ArmRecording, ...]
    remarks: tuple[str, ...] = ()
