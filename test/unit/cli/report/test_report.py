"""Reports of small bags, and what is said of bags that can have none."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from small_bags import NS, Rows, at, figures_of, joints, path, pose, text, write_bag

from dvrk_kinematics import load_arm
from dvrk_kinematics.cli.report.__main__ import main, make_report
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.errors import BagError, MissingExtra
from dvrk_kinematics.geometry.arrays import Array

TIMES = np.arange(0.0, 2.0, 0.005)
YAW = np.eye(6)[0]
HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])


def swing(times: Array) -> Array:
    """A yaw of 0.2 rad within a second, from 0.5 s on; (N,) -> (N, 6)."""
    u = np.clip(np.asarray(times) - 0.5, 0.0, 1.0)
    q = np.tile(HOME, (len(u), 1))
    q[:, 0] = 0.2 * (3.0 * u**2 - 2.0 * u**3)
    return q


def arm_rows(arm: str = "/PSM1", clock_s: float = 0.0, off: float = 0.0) -> Rows:
    """States of an arm that swings, stamped by a clock that may be another one."""
    rows: Rows = [(f"{arm}/tool_type", 0.0, text("LARGE_NEEDLE_DRIVER:400006[8-9]"))]
    for t, q in zip(TIMES.tolist(), swing(TIMES), strict=True):
        stamp = at(t + clock_s)
        rows.append((f"{arm}/measured_js", t + 0.0002, joints(q + off * YAW, stamp)))
        rows.append((f"{arm}/setpoint_js", t + 0.0002, joints(q, stamp)))
    return rows


def plan_row(stamp_s: float | None, arm: str = "PSM1") -> Rows:
    """A plan that follows the swing from 0.5 s on."""
    knots = np.linspace(0.0, 1.0, 101)
    stamp = 0 if stamp_s is None else at(stamp_s)
    return [(f"/trajectory/{arm}/planned_path", 0.3, path(knots, swing(knots + 0.5), stamp))]


def test_tracking_error_of_joint_and_tip_is_the_offset(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows(off=1e-3))
    (arm,) = figures_of(bag).arms
    assert arm.joints[0].tracking is not None and arm.tracking_tip is not None
    assert arm.joints[0].tracking.max == pytest.approx(1e-3, rel=1e-9)
    assert arm.joints[0].tracking.rms == pytest.approx(1e-3, rel=1e-9)
    assert arm.joints[1].tracking is not None and arm.joints[1].tracking.max < 1e-12
    psm = load_arm("PSM", instrument="400006")
    radius = float(np.linalg.norm(psm.forward(HOME)[[0, 2], 3]))
    assert arm.tracking_tip.max == pytest.approx(1e-3 * radius, rel=1e-3)
    assert arm.joints[0].highest == pytest.approx(0.201)
    assert arm.joints[0].peak_velocity == pytest.approx(0.3, rel=1e-2)
    assert arm.travel == pytest.approx(0.2 * radius, rel=1e-3)
    assert not arm.motions


@pytest.mark.parametrize(("stamp_s", "lag"), [(0.5, 0.0), (0.45, 0.05), (None, 0.0)])
def test_lag_is_counted_from_the_stamp_of_the_plan_or_from_the_first_motion(
    tmp_path: Path, stamp_s: float | None, lag: float
) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows() + plan_row(stamp_s))
    (arm,) = figures_of(bag).arms
    assert arm.motions
    # Straight lines between 101 knots leave the curve by 0.2 rad * 6 / 8 * (10 ms)^2 * radius.
    assert arm.motions[0].following.position_max < 2e-6
    assert arm.motions[0].following.lag_mean == pytest.approx(lag, abs=6e-3)


def test_a_motion_that_ends_late_is_shown_to_its_end(tmp_path: Path) -> None:
    knots = np.linspace(0.0, 1.0, 101)
    hasty = path(0.3 * knots, swing(knots + 0.5), at(0.5))
    rows = [*arm_rows(), ("/trajectory/PSM1/planned_path", 0.3, hasty)]
    (arm,) = figures_of(write_bag(tmp_path / "bag", rows)).arms
    assert arm.joints[0].highest == pytest.approx(0.2)
    assert arm.motions
    assert arm.motions[0].following.lag_max == pytest.approx(0.7, abs=0.05)


def test_a_plan_with_prefixed_joints_begins_with_the_first_command(tmp_path: Path) -> None:
    ((topic, time_s, plan),) = plan_row(None)
    plan.joint_names = [f"PSM1_{name}" for name in plan.joint_names]
    rows = [*arm_rows(), (topic, time_s, plan)]
    rows += [
        ("/PSM1/servo_jp", t, joints(swing(np.array([t]))[0])) for t in np.arange(0.5, 1.5, 0.005)
    ]
    (arm,) = figures_of(write_bag(tmp_path / "bag", rows)).arms
    assert arm.motions and arm.command is not None
    assert arm.motions[0].following.position_max < 2e-6
    assert abs(arm.motions[0].following.lag_mean) < 1e-3


def test_a_plan_that_was_over_before_is_left_out(tmp_path: Path) -> None:
    ((topic, _, plan),) = plan_row(None)
    knots = np.linspace(0.0, 1.0, 11)
    old = path(knots, np.tile(HOME + 0.5, (11, 1)), 0)
    rows = [*arm_rows(), (topic, 0.0, old), (topic, 0.3, plan)]
    (arm,) = figures_of(write_bag(tmp_path / "both", rows)).arms
    assert arm.motions and arm.motions[0].following.position_max < 2e-6
    (arm,) = figures_of(write_bag(tmp_path / "old", [*arm_rows(), (topic, 0.0, old)])).arms
    assert not arm.motions


def test_stamps_of_another_clock_are_brought_to_ours(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows(clock_s=-4711.0) + plan_row(0.5))
    (arm,) = figures_of(bag).arms
    assert arm.motions and arm.motions[0].following.samples > 150
    assert arm.motions[0].following.lag_mean == pytest.approx(0.0, abs=2e-3)


def test_states_that_the_arm_calls_invalid_are_left_out(tmp_path: Path) -> None:
    rows = arm_rows()
    rows += [("/PSM1/measured_js", t, joints(HOME + 1.0)) for t in (0.001, 0.003)]
    recorded = read_recording(write_bag(tmp_path / "bag", rows)).arms[0].measured
    assert len(recorded.times) == len(TIMES)
    np.testing.assert_allclose(recorded.position[0], HOME)


def test_several_arms_each_get_their_section_and_those_at_rest_none(tmp_path: Path) -> None:
    rows = arm_rows("/lab/PSM2") + arm_rows()
    rows += [("/ECM/measured_js", t, joints(HOME, at(t))) for t in TIMES.tolist()]
    figures = make_report(write_bag(tmp_path / "bag", rows), tmp_path / "r.html", png=True)
    assert [arm.name for arm in figures.arms] == ["PSM1", "lab/PSM2"]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>PSM1</h2>" in page and "<h2>lab/PSM2</h2>" in page and "<h2>ECM</h2>" not in page
    assert (tmp_path / "r_lab_PSM2_joints.png").read_bytes().startswith(b"\x89PNG")


def test_an_arm_without_a_model_is_shown_with_the_tip_that_it_reports(tmp_path: Path) -> None:
    names = ("a", "b")
    rows: Rows = []
    for t, q in zip(TIMES.tolist(), swing(TIMES), strict=True):
        rows.append(("/ROBOT/measured_js", t, joints(q[:2], at(t), names=names)))
        rows.append(("/ROBOT/measured_cp", t, pose(q[:3], at(t), "ROBOT_base")))
    (arm,) = figures_of(write_bag(tmp_path / "bag", rows)).arms
    assert (arm.model, arm.tip_source) == ("", "measured_cp, in ROBOT_base")
    assert arm.travel == pytest.approx(0.2, rel=1e-6)
    assert arm.tracking_tip is None


def test_losses_are_told_where_they_were_counted(tmp_path: Path) -> None:
    noted = json.dumps({"/PSM1/measured_js": 3, "/PSM1/setpoint_js": 0, "/PSM1/tool_type": None})
    bag = write_bag(tmp_path / "bag", arm_rows(), lost=noted)
    figures = make_report(bag, tmp_path / "r.html")
    lost = {topic.name: topic.lost for topic in figures.topics}
    assert lost == json.loads(noted)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<tr class=bad><td data-head="topic">/PSM1/measured_js</td>' in page
    assert f'messages">{len(TIMES)}</td><td data-head="lost">3</td>' in page
    assert page.count("not counted") == 1


def test_names_from_a_bag_cannot_bring_code_into_the_page(tmp_path: Path) -> None:
    script = "<script>alert(1)</script>"
    names = (script, "b")
    rows: Rows = [
        ("/ROBOT/measured_js", t, joints(q[:2], at(t), names=names))
        for t, q in zip(TIMES.tolist(), swing(TIMES), strict=True)
    ]
    make_report(write_bag(tmp_path / "bag", rows), tmp_path / "r.html")
    assert "<script>" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_what_is_no_bag_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("no bag")
    (tmp_path / "broken.mcap").write_bytes(b"no mcap")
    for name, words in (
        ("absent", "does not exist"),
        ("folder", "is no bag"),
        ("notes.txt", "cannot be read"),
        ("broken.mcap", "cannot be read"),
    ):
        with pytest.raises(BagError, match=words):
            read_recording(tmp_path / name)


def test_an_empty_bag_is_said(tmp_path: Path) -> None:
    with pytest.raises(BagError, match="is empty"):
        read_recording(write_bag(tmp_path / "bag", []))


def test_a_bag_without_motion_is_said(tmp_path: Path) -> None:
    rest = [("/PSM1/measured_js", t, joints(HOME, at(t))) for t in TIMES.tolist()]
    with pytest.raises(BagError, match="no motion in it: the joints of PSM1 stayed"):
        make_report(write_bag(tmp_path / "rest", rest), tmp_path / "r.html")
    off = [("/PSM1/measured_js", 0.0, joints(np.empty(0), names=()))]
    with pytest.raises(BagError, match="never told where their joints are; were they enabled"):
        make_report(write_bag(tmp_path / "off", off), tmp_path / "r.html")
    other = write_bag(tmp_path / "other", [("/chatter", 0.0, text("hello"))])
    with pytest.raises(BagError, match="no motion in it: it has no topic <arm>/measured_js"):
        make_report(other, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_a_topic_of_another_type_is_said(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", [("/PSM1/measured_js", 0.0, text("not joints"))])
    with pytest.raises(BagError, match="is of type std_msgs/msg/String; a report reads sensor_ms"):
        read_recording(bag)


@pytest.mark.parametrize("library", ["rosbags.typesys", "matplotlib"])
def test_a_library_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match="requirements/"):
        make_report(bag, tmp_path / "r.html")


def test_the_command_writes_beside_the_messages_and_tells_problems_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    assert main([str(bag)]) == 0
    assert (bag / "report.html").exists()
    assert capsys.readouterr().out.splitlines()[-1] == str(bag / "report.html")
    assert main([str(tmp_path / "absent")]) == 1
    assert capsys.readouterr().err == f"report: {tmp_path / 'absent'}: does not exist\n"


def test_times_are_seconds_since_the_first_message(tmp_path: Path) -> None:
    recorded = read_recording(write_bag(tmp_path / "bag", arm_rows()))
    assert recorded.start_ns == at(0.0)
    assert recorded.duration == pytest.approx(TIMES[-1] + 0.0002, abs=1.0 / NS * 10)
    np.testing.assert_allclose(recorded.arms[0].measured.times, TIMES, atol=1e-6)
