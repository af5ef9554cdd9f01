"""What an adversary found in reports, each by its name; the campaign goes on looking."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
from small_bags import NS, Rows, at, figures_of, joints, page_of, path, scaling, write_bag
from test_report import HOME, TIMES, arm_rows, plan_row, swing

from dvrk_kinematics.bags.mcap_records import MAGIC
from dvrk_kinematics.cli.papers import obstacle_report, weld_report
from dvrk_kinematics.cli.report.__main__ import main, make_report
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.cli.report.recording import RecordedSpeed
from dvrk_kinematics.cli.report.slow_downs import SlowDowns, measure_slow_downs, scaled_end
from dvrk_kinematics.cli.workspace.__main__ import main as workspace
from dvrk_kinematics.cli.write_output import write_output
from dvrk_kinematics.errors import BagError, OutputError

PLAN = "/trajectory/PSM1/planned_path"
SPEED = "/bridge/PSM1/speed_scaling"


def remarks_of(folder: Path, rows: Rows) -> tuple[str, ...]:
    """What is said of a bag besides its figures."""
    return figures_of(write_bag(folder, rows)).remarks


def test_a_page_that_cannot_be_written_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    assert main([str(bag), "--output", "/dev/full"]) == 1
    told = capsys.readouterr().err
    assert told == "report: /dev/full cannot be written: No space left on device\n"


@pytest.mark.parametrize("output", ["/proc/x/y", "{}", "{}/file/x", "{}/a\0b", "{}/" + "x" * 300])
def test_any_output_that_cannot_be_written_is_said(tmp_path: Path, output: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OutputError, match="cannot be written: ") as told:
        write_output(Path(output.format(tmp_path)), b"page")
    assert str(told.value).isprintable() and len(str(told.value)) < 400
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file"]


def test_a_page_that_does_not_fit_leaves_the_one_before(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    page = tmp_path / "r.html"
    make_report(bag, page)
    before = page.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(OutputError, match="cannot be written: File too large"):
            make_report(bag, page)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert page.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bag", "r.html"]


@pytest.mark.parametrize("command", [obstacle_report.main, weld_report.main])
def test_charts_that_cannot_be_written_are_said(
    command: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(command)
    assert command(["--output", "/dev/full"]) == 1
    told = capsys.readouterr().err
    assert told.endswith("_report: /dev/full cannot be written: No space left on device\n")
    assert command(["--output", f"/tmp/{'x' * 300}.png"]) == 1
    assert "cannot be written: File name too long" in capsys.readouterr().err


def test_a_map_that_cannot_be_written_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert workspace(["map", "--step", "50", "--output", "/dev/null/x"]) == 1
    assert "cannot be written: Not a directory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "~nosuchuser"])
def test_a_bag_with_an_impossible_name_is_refused_in_words(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 1
    told = capsys.readouterr().err
    assert told.startswith("report: ") and told.count("\n") == 1


def test_joints_that_are_not_numbers_are_told_and_left_out(tmp_path: Path) -> None:
    nan = [("/PSM1/measured_js", t, joints(HOME * np.nan, at(t))) for t in TIMES.tolist()]
    with pytest.raises(BagError, match=r"400 of 400 messages are left out: joints are not number"):
        figures_of(write_bag(tmp_path / "all", nan))
    (remark,) = remarks_of(tmp_path / "some", arm_rows() + nan[:3])
    assert remark.startswith("/PSM1/measured_js: 3 of 403 messages are left out: joints are not")


@pytest.mark.parametrize("value", [1e308, -np.inf, 1e7])
def test_huge_numbers_are_told_and_left_out(tmp_path: Path, value: float) -> None:
    rows = arm_rows()
    rows.append(("/PSM1/setpoint_js", 1.0, joints(np.full(6, value), at(1.0))))
    figures = figures_of(write_bag(tmp_path / "bag", rows))
    assert figures.arms[0].joints[0].highest == pytest.approx(0.2)
    assert "beyond 1e+06 rad or m" in figures.remarks[0]


def test_stamps_that_fall_back_by_microseconds_are_no_news(tmp_path: Path) -> None:
    rows = arm_rows()
    for t in (0.6, 0.8, 1.0):
        rows.append(("/PSM1/measured_js", t + 0.003, joints(HOME, at(t) - 15_000)))
    figures = figures_of(write_bag(tmp_path / "bag", rows))
    assert figures.remarks == ()
    assert figures.arms[0].state is not None and figures.arms[0].state.is_stamped
    assert figures.arms[0].joints[0].peak_velocity == pytest.approx(0.3, rel=1e-2)


def test_stamps_that_fall_back_further_are_told_and_arrival_counts(tmp_path: Path) -> None:
    rows = [
        (topic, t, joints(m.position, at(2.0 - t)) if topic.endswith("measured_js") else m)
        for topic, t, m in arm_rows()
    ]
    figures = figures_of(write_bag(tmp_path / "bag", rows))
    (remark,) = figures.remarks
    assert "/PSM1/measured_js: stamps fall back, 399 times, by up to 1.995 s" in remark
    assert figures.arms[0].joints[0].highest == pytest.approx(0.2)
    assert figures.arms[0].state is not None and not figures.arms[0].state.is_stamped


def test_stamps_that_stand_still_are_told_and_arrival_counts(tmp_path: Path) -> None:
    rows = [
        (topic, t, joints(m.position, at(1.0)) if "_js" in topic else m)
        for topic, t, m in arm_rows()
    ]
    figures = figures_of(write_bag(tmp_path / "bag", rows))
    assert "399 of 400 messages have a stamp that was there before" in figures.remarks[0]
    assert figures.arms[0].joints[0].highest == pytest.approx(0.2)


def test_states_of_a_truncated_packet_are_told_and_left_out(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    file = bag / "bag.mcap"
    data = file.read_bytes()
    # The number of joint names of one message in the middle.
    place = data.index(b"\x06\x00\x00\x00\x04\x00\x00\x00yaw\x00", len(data) // 2)
    file.write_bytes(data[:place] + b"\xff\xff\xff\x7f" + data[place + 4 :])
    (remark,) = figures_of(bag).remarks
    assert "_js: 1 of 400 messages are broken: " in remark


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("year", "motions take 0.001 to 3600 s"),
        ("still", "the times of their points do not increase"),
        ("back", "the times of their points do not increase"),
        ("ragged", "do not have a position for each joint"),
        ("nan", "positions are not numbers"),
        ("twice", "they name a joint twice"),
    ],
)
def test_a_plan_that_cannot_be_is_told_and_the_rest_is_reported(
    tmp_path: Path, name: str, words: str
) -> None:
    ((topic, time_s, plan),) = plan_row(0.5)
    points = plan.points
    if name == "year":
        points[-1].time_from_start.sec = 31_536_000
    elif name == "still":
        points[4].time_from_start.nanosec = points[3].time_from_start.nanosec
    elif name == "back":
        points[4].time_from_start.sec = -5
    elif name == "ragged":
        points[4].positions = points[4].positions[:3]
    elif name == "nan":
        points[4].positions = points[4].positions * np.nan
    else:
        plan.joint_names = ["yaw", *plan.joint_names[:-1]]
    figures = figures_of(write_bag(tmp_path / "bag", [*arm_rows(), (topic, time_s, plan)]))
    assert figures.arms[0].motions == ()
    assert f"{PLAN}: 1 of 1 messages are left out: " in figures.remarks[0]
    assert words in figures.remarks[0]


def test_a_plan_of_an_hour_is_compared_without_filling_the_memory(tmp_path: Path) -> None:
    knots = np.array([0.0, 3600.0])
    plan = path(knots, np.array([HOME, HOME + 0.1]), at(0.5))
    (arm,) = figures_of(write_bag(tmp_path / "bag", [*arm_rows(), (PLAN, 0.3, plan)])).arms
    assert arm.motions


@pytest.mark.parametrize("name", ["$", "$x^{", "a\nb", "x" * 20_000, "\u540d"])
def test_any_name_of_a_joint_can_be_drawn(tmp_path: Path, name: str) -> None:
    rows: Rows = [
        ("/ROBOT/measured_js", t, joints(q[:2], at(t), names=(name, "b")))
        for t, q in zip(TIMES.tolist(), swing(TIMES), strict=True)
    ]
    assert make_report(write_bag(tmp_path / "bag", rows), tmp_path / "r.html").arms
    assert (tmp_path / "r.html").exists()


@pytest.mark.parametrize("noted", ["{", "[]", '{"/PSM1/measured_js": "many"}', "[" * 100_000])
def test_malformed_custom_data_are_told(tmp_path: Path, noted: str) -> None:
    figures = figures_of(write_bag(tmp_path / "bag", arm_rows(), lost=noted))
    assert "what metadata.yaml says of losses" in figures.remarks[0]
    assert {topic.lost for topic in figures.topics} == {None}


@pytest.mark.parametrize("content", ["[" * 100_000, "a: 2001-99-99", "- 1", "\x00", "x" * 2**21])
def test_a_bag_with_unusable_metadata_is_read_without_them(tmp_path: Path, content: str) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    (bag / "metadata.yaml").write_text(content)
    figures = figures_of(bag)
    assert figures.remarks[0].startswith("metadata.yaml ")
    assert figures.arms[0].joints[0].highest == pytest.approx(0.2)


def test_of_a_bag_that_was_not_closed_whole_chunks_are_recovered(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    (bag / "metadata.yaml").unlink()
    data = (bag / "bag.mcap").read_bytes()
    (bag / "bag.mcap").write_bytes(data[: data.rindex(MAGIC)])
    figures = figures_of(bag)
    (remark,) = figures.remarks
    assert remark == (
        "the bag was not closed: its recorder was killed, or still runs; "
        "801 messages were recovered"
    )
    assert remark in page_of(bag)
    assert figures.arms[0].joints[0].highest == pytest.approx(0.2)


def test_a_bag_that_was_cut_off_in_its_first_chunk_is_said(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", arm_rows())
    data = (bag / "bag.mcap").read_bytes()
    (bag / "bag.mcap").write_bytes(data[: len(data) // 3])
    with pytest.raises(BagError, match="is empty; a file of the bag has no end: it was cut off"):
        read_recording(bag)


def test_slow_downs_of_a_motion_are_counted(tmp_path: Path) -> None:
    speeds = [(0.0, 1.0), (0.7, 0.8), (0.8, 0.25), (0.9, 1.0), (1.1, 0.5), (1.2, 1.0), (1.9, 0.0)]
    rows = arm_rows() + [(SPEED, t, scaling(factor)) for t, factor in speeds]
    bag = write_bag(tmp_path / "bag", rows)
    (arm,) = make_report(bag, tmp_path / "r.html").arms
    assert arm.slow_downs is not None
    # The pause at 1.9 s is after the motion.
    assert (arm.slow_downs.count, arm.slow_downs.lowest) == (2, 0.25)
    assert arm.slow_downs.below_s == pytest.approx(0.3)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 times, 0.30 s in all, lowest factor 0.25" in page
    assert 'alt="Speed of PSM1"' in page


def test_a_motion_at_full_speed_has_no_slow_downs_and_an_older_bag_does_not_tell(
    tmp_path: Path,
) -> None:
    bag = write_bag(tmp_path / "bag", [*arm_rows(), (SPEED, 0.0, scaling(1.0))])
    (arm,) = figures_of(bag).arms
    assert arm.slow_downs == SlowDowns(0, 1.0, 0.0)
    assert 'planned one</td><td data-head="">never</td>' in page_of(bag)
    page = page_of(write_bag(tmp_path / "old", arm_rows()))
    assert 'planned one</td><td data-head="">not recorded</td>' in page


def test_factors_outside_of_0_to_1_are_told_and_left_out(tmp_path: Path) -> None:
    rows = arm_rows() + [(SPEED, t, scaling(f)) for t, f in ((0.7, np.nan), (0.8, 2.0), (0.9, -1))]
    figures = figures_of(write_bag(tmp_path / "bag", rows))
    assert "3 of 3 messages are left out: a speed scaling is not within" in figures.remarks[0]
    assert figures.arms[0].slow_downs is None


def test_a_motion_that_was_paused_is_followed_to_its_scaled_end(tmp_path: Path) -> None:
    times = np.arange(0.0, 4.0, 0.005)
    played = np.clip(np.where(times < 1.0, times, np.maximum(times - 2.0, 1.0)), 0.0, 2.0)
    rows: Rows = [(SPEED, 0.0, scaling(1.0)), (SPEED, 1.0, scaling(0.0)), (SPEED, 3.0, scaling(1))]
    for t, q in zip(times.tolist(), swing(played), strict=True):
        rows.append(("/PSM1/measured_js", t, joints(q, at(t))))
        rows.append(("/PSM1/setpoint_js", t, joints(q, at(t))))
    (arm,) = figures_of(write_bag(tmp_path / "bag", rows + plan_row(0.5))).arms
    assert arm.joints[0].highest == pytest.approx(0.2)
    assert arm.motions and arm.motions[0].following.position_max < 2e-6
    assert arm.motions[0].following.lag_max == pytest.approx(2.0, abs=0.02)
    assert arm.slow_downs is not None
    assert (arm.slow_downs.count, arm.slow_downs.lowest) == (1, 0.0)
    assert arm.slow_downs.below_s == pytest.approx(2.0)


def test_a_scaled_motion_ends_when_its_planned_time_was_played() -> None:
    steps = RecordedSpeed(np.array([0.0, 1.0, 3.0]), np.array([1.0, 0.5, 1.0]))
    assert scaled_end(steps, 0.0, 0.5) == pytest.approx(0.5)
    assert scaled_end(steps, 0.0, 1.0) == pytest.approx(1.0)
    assert scaled_end(steps, 0.0, 2.0) == pytest.approx(3.0)
    assert scaled_end(steps, -2.0, 6.0) == pytest.approx(5.0)
    paused = RecordedSpeed(np.array([1.0]), np.array([0.0]))
    assert scaled_end(paused, 0.0, 2.0) == float("inf")


def test_a_motion_that_begins_slow_has_slowed_down_once() -> None:
    slow = RecordedSpeed(np.array([0.0, 2.0]), np.array([0.5, 1.0]))
    assert measure_slow_downs(slow, [(1.0, 3.0)]) == SlowDowns(1, 0.5, 1.0)
    assert measure_slow_downs(slow, [(2.5, 3.0)]) == SlowDowns(0, 1.0, 0.0)


def test_nanoseconds_of_messages_a_year_apart_do_not_fill_the_memory(tmp_path: Path) -> None:
    rows = arm_rows()
    year = 31_536_000.0
    rows += [("/PSM1/measured_js", year + k / NS, joints(HOME + k, 0)) for k in range(50)]
    rows += [("/PSM1/setpoint_js", year + k / NS, joints(HOME + k, 0)) for k in range(50)]
    assert figures_of(write_bag(tmp_path / "bag", rows)).arms
