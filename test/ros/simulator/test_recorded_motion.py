"""A simulated arm draws a circle, a recorder writes it down, and the report says what it was."""

from __future__ import annotations

import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from arm_client import ArmClient
from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dvrk_kinematics import load_arm
from dvrk_kinematics.cli.report.__main__ import ReportFigures, make_report
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.planning.tip_follower import describe_contour
from dvrk_kinematics.ros.bringup.processes import Process, recording, simulated_arms
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.stamps import ns_to_stamp, seconds_to_ns, stamp_to_ns

pytestmark = pytest.mark.ros

PSM = load_arm("PSM", instrument="400006")
READINGS_RAD = 2e-5
"""What joints of 1 rad/s move in the microseconds between two stamps of one datum."""
RADIUS_M = 0.01
DURATION_S = 3.0
PERIOD_S = 0.005
KNOT_S = 0.05
LAG_S = 0.03
START_DELAY_S = 0.5
TIMEOUT_S = 30.0


def circle(time_s: Array) -> Array:
    """Joints that draw a circle of the tip, from rest to rest; (N,) -> (N, 6)."""
    u = np.clip(time_s / DURATION_S, 0.0, 1.0)
    angle = 2.0 * np.pi * (10.0 * u**3 - 15.0 * u**4 + 6.0 * u**5)
    T = np.tile(PSM.forward(np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])), (len(u), 1, 1))
    T[:, 0, 3] += RADIUS_M * (1.0 - np.cos(angle))
    T[:, 1, 3] += RADIUS_M * np.sin(angle)
    solved = PSM.inverse_batch(T, seed=np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0]))
    assert solved.ok.all()
    return np.asarray(solved.q)


STATES = ("measured_js", "setpoint_js", "measured_cp", "jaw/measured_js")
"""What the arm says of itself in every cycle."""


class Drawn(NamedTuple):
    """What was recorded, and what is known of it from elsewhere."""

    bag: Path
    page: str
    figures: ReportFigures
    sent: Array
    messages: dict[str, list[tuple[int, bytes]]]


def plan(start_ns: int) -> JointTrajectory:
    times = np.linspace(0.0, DURATION_S, round(DURATION_S / KNOT_S) + 1)
    step = 1e-5
    q, qd = circle(times), (circle(times + step) - circle(times - step)) / (2.0 * step)
    qd[0] = qd[-1] = 0.0
    trajectory = JointTrajectory(joint_names=list(PSM.joint_names))
    trajectory.header.stamp = ns_to_stamp(start_ns, Time)
    trajectory.points = [
        JointTrajectoryPoint(
            positions=row.tolist(),
            velocities=slope.tolist(),
            time_from_start=ns_to_stamp(seconds_to_ns(t), Duration),
        )
        for t, row, slope in zip(times.tolist(), q, qd, strict=True)
    ]
    return trajectory


def draw(node: Node, arm: ArmClient) -> Array:
    """Move to the circle, announce it, and send it somewhat late."""
    assert arm.move_joints("move_jp", circle(np.zeros(1))[0])
    planned = node.create_publisher(
        JointTrajectory, "trajectory/PSM1/planned_path", qos.DESCRIPTION
    )
    commands = node.create_publisher(JointState, "PSM1/servo_jp", qos.ARM_STATE)
    until(lambda: commands.get_subscription_count() == 2 == 1 + planned.get_subscription_count())
    start_ns = time.time_ns() + seconds_to_ns(START_DELAY_S)
    planned.publish(plan(start_ns))
    times = np.arange(0.0, DURATION_S + 0.1, PERIOD_S)
    rows = circle(times)
    begin = time.monotonic() + (start_ns - time.time_ns()) * 1e-9 + LAG_S
    for t, row in zip(times.tolist(), rows.tolist(), strict=True):
        time.sleep(max(0.0, begin + t - time.monotonic()))
        commands.publish(JointState(name=list(PSM.joint_names), position=row))
    return rows


def until(done: Callable[[], Any]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def drawn(
    run: Callable[[Process], subprocess.Popen[str]],
    node: Node,
    tmp_path_factory: pytest.TempPathFactory,
) -> Drawn:
    folder = tmp_path_factory.mktemp("recorded")
    bag = folder / "circle"
    run(simulated_arms(["PSM1"]))
    arm = ArmClient(node, "PSM1")
    arm.hear("operating_state", "status", "error", "warning", "goal_reached")
    arm.prepare("state_command", "move_jp")
    arm.check_connections()
    arm.enable()
    arm.home()
    written: dict[str, int] = {}

    def hear(told: DiagnosticArray) -> None:
        for status in told.status:
            if status.name == "recorder: bag":
                written.update({row.key: row.value for row in status.values})

    node.create_subscription(DiagnosticArray, "/diagnostics", hear, 10)
    recorder = run(recording(["PSM1"], bag))
    until(lambda: {f"/PSM1/{topic}" for topic in STATES} <= written.keys())
    sent = draw(node, arm)
    until(lambda: int(written.get("/PSM1/servo_jp", 0)) == len(sent))
    recorder.terminate()
    recorder.wait(TIMEOUT_S)
    figures = make_report(bag, folder / "report.html", png=True)
    messages = defaultdict(list)
    with Reader(bag) as reader:
        for connection, time_ns, data in reader.messages():
            messages[connection.topic].append((time_ns, bytes(data)))
    page = (folder / "report.html").read_text(encoding="utf-8")
    return Drawn(bag, page, figures, sent, messages)


def joints(drawn: Drawn, topic: str) -> list[JointState]:
    return [deserialize_message(data, JointState) for _, data in drawn.messages[topic]]


def _planned_ns(drawn: Drawn) -> int:
    """When the circle was to begin (ns)."""
    data = drawn.messages["/trajectory/PSM1/planned_path"][0][1]
    return stamp_to_ns(deserialize_message(data, JointTrajectory).header.stamp)


def test_every_command_that_was_sent_is_in_the_bag(drawn: Drawn) -> None:
    recorded = np.array([message.position for message in joints(drawn, "/PSM1/servo_jp")])
    np.testing.assert_array_equal(recorded, drawn.sent)
    assert {topic.name: topic.lost for topic in drawn.figures.topics if topic.lost} == {}


def test_no_state_of_the_arm_is_missing(drawn: Drawn) -> None:
    # From when all of them were heard: a busy machine finds one topic a second before another.
    begin_ns = _planned_ns(drawn)
    counts = {
        topic: sum(time_ns > begin_ns for time_ns, _ in drawn.messages[f"/PSM1/{topic}"])
        for topic in STATES
    }
    assert counts["measured_js"] > 250
    assert max(counts.values()) - min(counts.values()) <= 40, counts
    (lost,) = (t.lost for t in drawn.figures.topics if t.name == "/PSM1/measured_js")
    assert lost == 0


def test_the_tip_lies_on_its_plan_and_is_as_late_as_it_was_sent(drawn: Drawn) -> None:
    (arm,) = drawn.figures.arms
    # Of 600; states of a busy machine that got no new setpoint do not count.
    assert arm.motions and arm.motions[0].following.samples > 250
    # The simulated arm follows exactly; knots 50 ms apart are within a micrometre of the circle.
    assert arm.motions[0].following.position_max < 1e-6
    assert arm.motions[0].following.rotation_max < 1e-6
    # As late as the commands came: a busy machine keeps this process from sending them.
    arrivals = np.array([time_ns for time_ns, _ in drawn.messages["/PSM1/servo_jp"]])
    due_s = (arrivals - _planned_ns(drawn)) * 1e-9 - PERIOD_S * np.arange(len(arrivals))
    assert LAG_S - 0.002 < arm.motions[0].following.lag_mean < due_s.max() + 0.05
    assert arm.motions[0].following.lag_max >= arm.motions[0].following.lag_mean
    # Exactly what the states in the bag add up to: one that a busy machine left out cuts a corner
    # off the circle, and nothing can make the way longer.
    states = [m for m in joints(drawn, "/PSM1/measured_js") if len(m.position) == 6]
    around = [m.position for m in states if stamp_to_ns(m.header.stamp) > _planned_ns(drawn)]
    steps = np.diff(PSM.forward(np.array(around))[:, :3, 3], axis=0)
    assert arm.travel == pytest.approx(np.linalg.norm(steps, axis=1).sum(), rel=1e-6)
    assert arm.travel <= 2.0 * np.pi * RADIUS_M * (1.0 + 1e-6)
    assert arm.model == "PSM Classic with LARGE_NEEDLE_DRIVER_400006"


def test_rate_and_tracking_are_those_of_the_messages(drawn: Drawn) -> None:
    (arm,) = drawn.figures.arms
    arrivals = np.array([time_ns for time_ns, _ in drawn.messages["/PSM1/servo_jp"]])
    gaps = np.diff(arrivals) * 1e-9
    # A machine that had no time for the client makes a pause, which is no period.
    periods = gaps[gaps <= 0.25]
    assert arm.command is not None and not arm.command.is_stamped
    assert arm.command.pauses == len(gaps) - len(periods)
    assert arm.command.messages == len(drawn.sent)
    assert arm.command.rate == pytest.approx(1.0 / periods.mean())
    assert arm.command.p50 == pytest.approx(np.median(periods))
    assert arm.command.longest == pytest.approx(periods.max())
    assert arm.state is not None and arm.state.is_stamped
    setpoints = joints(drawn, "/PSM1/setpoint_js")
    told = np.array([stamp_to_ns(m.header.stamp) for m in setpoints])
    start = _planned_ns(drawn)
    errors = []
    for m in joints(drawn, "/PSM1/measured_js"):
        stamp = stamp_to_ns(m.header.stamp)
        nearest = int(np.abs(told - stamp).argmin())
        # The two stamps of one datum differ by microseconds.
        if abs((stamp - start) * 1e-9 - 1.6) <= 1.8 and abs(told[nearest] - stamp) < 20_000:
            errors.append(np.subtract(m.position, setpoints[nearest].position))
    assert len(errors) > 300
    errors = np.array(errors)
    for k, joint in enumerate(arm.joints):
        assert joint.tracking is not None
        assert joint.tracking.max == pytest.approx(np.abs(errors[:, k]).max(), abs=READINGS_RAD)
        assert joint.tracking.rms == pytest.approx(
            float(np.sqrt((errors[:, k] ** 2).mean())), rel=1e-2, abs=READINGS_RAD
        )


def test_the_page_holds_every_section_and_needs_nothing_else(drawn: Drawn) -> None:
    (arm,) = drawn.figures.arms
    for heading in (
        *(
            "Figures",
            "Planned paths",
            "Rate and jitter",
            "Joints (rad, m, s)",
            "Joint positions",
            "Topics",
        ),
        *("Joint velocities", "Joint accelerations", "Path of the tip", "Error over time"),
        "Periods",
    ):
        assert f"<h3>{heading}</h3>" in drawn.page, heading
    assert arm.motions and arm.command is not None
    # What a narrow screen shows before each cell is no part of the table.
    table = re.sub(r' data-head="[^"]*"', "", drawn.page)
    assert f"<td>{describe_contour(arm.motions[0].following, 'µ')}</td>" in table
    assert f"<td>{arm.command.rate:.2f}</td>" in table
    for topic in drawn.figures.topics:
        assert f"<td>{topic.name}</td><td>{topic.type_name}</td><td>{topic.messages}" in table
    sources = re.findall(r'src="(.{22})', drawn.page)
    assert sources == ["data:image/png;base64,"] * 6
    # Without the pictures: their base64 may spell any four letters.
    assert "http" not in re.sub(r'src="data:[^"]*"', "", drawn.page)
    pictures = sorted(file.name for file in drawn.bag.parent.glob("report_PSM1_*.png"))
    assert len(pictures) == 6
