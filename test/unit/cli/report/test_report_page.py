"""What a page says of a motion: what was done, by which arm, and what is a spike or rounding."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_bags import (
    Rows,
    at,
    bridge_line,
    figures_of,
    flight_plan,
    joints,
    page_of,
    path,
    write_bag,
)

from dvrk_kinematics.cli.report.__main__ import main
from dvrk_kinematics.cli.report.figures import compute_figures
from dvrk_kinematics.cli.report.plots import _frame, _joint_plots
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.geometry.arrays import Array

TIMES = np.arange(0.0, 2.0, 0.005)
HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
PLAN = "/trajectory/PSM1/planned_path"


def swing(times: Array) -> Array:
    """A yaw of 0.2 rad within a second, from 0.5 s on; (N,) -> (N, 6)."""
    u = np.clip(np.asarray(times) - 0.5, 0.0, 1.0)
    q = np.tile(HOME, (len(u), 1))
    q[:, 0] = 0.2 * (3.0 * u**2 - 2.0 * u**3)
    return q


def rows_of_swing(spike: float = 0.0) -> Rows:
    """An arm that swings, and reports a velocity once that it does not have."""
    rows: Rows = []
    rate = np.gradient(swing(TIMES), TIMES, axis=0)
    rate[200, 0] += spike
    for t, q, qd in zip(TIMES.tolist(), swing(TIMES), rate, strict=True):
        rows.append(("/PSM1/measured_js", t, joints(q, at(t), qd)))
        rows.append(("/PSM1/setpoint_js", t, joints(q, at(t))))
    return rows


def knots(stamp_s: float | None) -> Rows:
    times = np.linspace(0.0, 1.0, 101)
    stamp = 0 if stamp_s is None else at(stamp_s)
    return [(PLAN, 0.3 if stamp_s is None else 0.55, path(times, swing(times + 0.5), stamp))]


def test_a_plan_that_comes_again_with_its_start_is_one_motion(tmp_path: Path) -> None:
    (arm,) = figures_of(
        write_bag(tmp_path / "bag", rows_of_swing() + knots(None) + knots(0.49))
    ).arms
    (motion,) = arm.motions
    assert motion.start == pytest.approx(0.49)
    assert motion.planned == pytest.approx(1.0) and motion.took == pytest.approx(1.01, abs=0.02)
    assert motion.following.lag_mean == pytest.approx(0.01, abs=1e-4)
    assert arm.moved == pytest.approx(motion.took)


def test_each_path_has_figures_of_its_own(tmp_path: Path) -> None:
    back = 2.0 + TIMES
    rows = rows_of_swing() + knots(0.5)
    for t, q in zip(back.tolist(), swing(1.5 - (back - 2.0))[:, :], strict=True):
        rows.append(("/PSM1/measured_js", t, joints(q, at(t), np.zeros(6))))
        rows.append(("/PSM1/setpoint_js", t, joints(q, at(t))))
    times = np.linspace(0.0, 1.0, 101)
    rows.append((PLAN, 1.9, path(times, swing(1.5 - times), at(1.98))))
    (arm,) = figures_of(write_bag(tmp_path / "bag", rows)).arms
    assert len(arm.motions) == 2
    lags = [motion.following.lag_mean for motion in arm.motions]
    assert lags == pytest.approx([0.0, 0.02], abs=2e-3)


def test_the_deviation_is_that_of_the_flight_plan_of_the_motion(tmp_path: Path) -> None:
    topic = "/trajectory/PSM1/flight_plan"
    rows = rows_of_swing() + knots(0.5)
    rows += [(topic, 0.2, flight_plan(1.0, 3e-9, 1.6e-7)), (topic, 0.25, flight_plan(9.0, 1, 1))]
    (arm,) = figures_of(write_bag(tmp_path / "bag", rows)).arms
    assert arm.motions[0].deviation == (3e-9, 1.6e-7)
    assert "0.003 µm, 0.16 µrad" in page_of(tmp_path / "bag")
    broken = rows_of_swing() + knots(0.5) + [(topic, 0.2, flight_plan(1.0, float("nan"), 0.0))]
    figures = figures_of(write_bag(tmp_path / "broken", broken))
    assert figures.arms[0].motions[0].deviation is None
    assert "durations or deviations are not numbers" in figures.remarks[0]


def test_a_velocity_that_the_positions_do_not_show_is_a_spike(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", rows_of_swing(spike=0.5) + knots(0.5))
    (arm,) = figures_of(bag).arms
    yaw = arm.joints[0]
    assert yaw.has_spikes and yaw.told_velocity == pytest.approx(0.8, rel=0.01)
    assert yaw.peak_velocity == pytest.approx(0.3, rel=0.01)
    assert yaw.planned_velocity == pytest.approx(0.3, rel=0.02)
    assert (yaw.lower, yaw.upper) == pytest.approx((-1.588, 1.588), abs=1e-3)
    assert "0.8000 (spike)" in page_of(bag)
    (even,) = figures_of(write_bag(tmp_path / "even", rows_of_swing() + knots(0.5))).arms
    assert not any(joint.has_spikes for joint in even.joints)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("simulated", "a simulated arm, recorded"),
        ("dvrk", "a real arm, recorded"),
        ("toaster", "not recorded whether simulated or real, recorded"),
        ("", "not recorded whether simulated or real, recorded"),
    ],
)
def test_the_title_says_what_was_done_when_and_by_what(
    tmp_path: Path, kind: str, words: str
) -> None:
    rows = rows_of_swing() + knots(0.5)
    rows += [("/diagnostics", 0.1, bridge_line("PSM1", "connection", {"hardware": kind}))]
    page = page_of(write_bag(tmp_path / "bag", rows))
    assert "<h1>PSM1 followed a planned path, 23 mm in 1.0 s</h1>" in page
    assert words in page


def test_a_title_can_be_given(tmp_path: Path) -> None:
    bag, page = write_bag(tmp_path / "bag", rows_of_swing()), tmp_path / "r.html"
    assert main([str(bag), "--output", str(page), "--title", "A <swing>"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>A &lt;swing&gt;</h1>" in text and "recorded 2027-01-15 " in text


def test_slow_downs_are_those_that_the_bridge_counted(tmp_path: Path) -> None:
    told = [
        (t, bridge_line("PSM1", "motion", {"slow_downs": n})) for t, n in ((0.1, "2"), (1.9, "5"))
    ]
    rows = rows_of_swing() + [("/diagnostics", t, line) for t, line in told]
    bag = write_bag(tmp_path / "bag", rows)
    (arm,) = figures_of(bag).arms
    assert arm.counted_slow_downs == 3
    shown = re.findall(r'<td data-head="what">(slow-downs.*?)</td>.*?>(.*?)</td>', page_of(bag))
    assert shown == [("slow-downs by lateness, in the whole bag", "3")]
    (arm,) = figures_of(write_bag(tmp_path / "none", rows_of_swing())).arms
    assert arm.counted_slow_downs is None


def test_an_exact_arm_is_told_to_be_simulated_and_rounding_is_no_number(tmp_path: Path) -> None:
    times = np.linspace(0.0, 1.0, 201)
    exact = (PLAN, 0.3, path(times, swing(times + 0.5), at(0.5)))
    line = bridge_line("PSM1", "connection", {"hardware": "simulated"})
    rows = [*rows_of_swing(), exact, ("/diagnostics", 0.1, line)]
    page = page_of(write_bag(tmp_path / "bag", rows))
    assert "under 0.001 µm, " in page
    assert "A simulated arm follows its setpoints exactly." in page
    assert "e-19" not in page.split("<figure>")[0]


def test_an_axis_is_not_filled_by_rounding() -> None:
    low, high = _frame(np.array([0.0, 1e-19]), 1e-3, (-1.0, 1.0))
    assert high - low > 1e-3
    low, high = _frame(np.array([-0.5, 0.9]), 1e-3, (-9.0, 1.0))
    assert high > 1.0 and low > -1.0


def test_joint_plots_have_a_legend_and_the_limits(tmp_path: Path) -> None:
    figure_class = pytest.importorskip("matplotlib.figure").Figure
    sheets: list[Any] = []

    class Undrawn(figure_class):  # type: ignore[misc]
        """Drawing takes seconds, and what is on a sheet is known without it."""

        def savefig(self, *_: Any, **__: Any) -> None:
            sheets.append(self)

    bag = write_bag(tmp_path / "bag", rows_of_swing() + knots(0.5))
    _, (curves,) = compute_figures(read_recording(bag))
    plots = _joint_plots(Undrawn, curves)
    told = dict(zip([plot.name for plot in plots], sheets, strict=True))
    bounds = curves.bounds
    limits = {
        "joints": (bounds.lower, bounds.upper),
        "velocities": (-bounds.velocity, bounds.velocity),
        "accelerations": (-bounds.acceleration, bounds.acceleration),
    }
    shown = {
        "joints": ["setpoint_js", "measured_js", "limit"],
        "velocities": ["as reported", "planned", "fitted to positions", "limit"],
        "accelerations": ["planned", "fitted to positions", "limit"],
    }
    for name, (low, high) in limits.items():
        (legend,) = told[name].legends
        assert [words.get_text() for words in legend.get_texts()] == shown[name]
        assert len(told[name].axes) == len(curves.joint_names) == 6
        for k, axes in enumerate(told[name].axes):
            lines = [line for line in axes.get_lines() if line.get_label() == "limit"]
            assert [line.get_ydata()[0] for line in lines] == [low[k], high[k]]
            title = axes.get_title(loc="left") or axes.get_title()
            assert title.startswith(f"{curves.joint_names[k]}   (limits ")


def test_tables_fit_a_phone(tmp_path: Path) -> None:
    """There, every cell is a line of its own that begins with the head of its column."""
    line = bridge_line("PSM1", "motion", {"slow_downs": "2"})
    rows = [*rows_of_swing(), *knots(0.5), ("/diagnostics", 0.1, line)]
    page = page_of(write_bag(tmp_path / "bag", rows))
    tables = re.findall(r"<table>(.*?)</table>", page, re.S)
    assert len(tables) == page.count("<table>") == 5
    for table in tables:
        head, *body = re.findall(r"<tr.*?>(.*?)</tr>", table, re.S)
        heads = re.findall(r"<th>(.*?)</th>", head)
        assert heads and body
        for row in body:
            assert re.findall(r'<td data-head="(.*?)">', row) == heads
            assert row.count("<td") == len(heads)
    narrow = re.search(r"@media \(max-width: 640px\) \{(.*?)\n\}", page, re.S)
    assert narrow is not None
    assert "table, tbody, tr, td { display: block; width: 100%; }" in narrow[1]
    assert "th { display: none; }" in narrow[1]
    assert "td::before { content: attr(data-head);" in narrow[1]
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
