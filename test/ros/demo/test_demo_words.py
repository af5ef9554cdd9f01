"""What the first page shows of the demo is what the demo prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dvrk_kinematics_interfaces.action import TraceBlockO
from dvrk_kinematics_interfaces.msg import FlightPlan

from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M
from dvrk_kinematics.ros.demo import demo_report
from dvrk_kinematics.ros.demo.demo_report import describe_plan, describe_result
from dvrk_kinematics.ros.demo.loop_figures import LoopFigures

PAGE = Path(__file__).resolve().parents[3] / "docs" / "start" / "without_ros.md"


def read_names(text: str) -> list[str]:
    """The first column of tables."""
    return re.findall(r"^  (\S.*?)  ", text, re.M)


def test_the_first_page_shows_the_rows_that_the_demo_prints() -> None:
    (block,) = re.findall(
        r"^## What the demo prints\n+```\n(.*?)^```",
        PAGE.read_text("utf-8"),
        re.M | re.S,
    )
    result = TraceBlockO.Result(message="goal reached")
    loop = LoopFigures(200.0, 200.0, 1000, 0, 0.005, 0.005, 0.006)
    printed = read_names(f"{describe_plan(result.plan)}\n{describe_result(result, loop)}")
    assert len(printed) > 12
    assert read_names(block) == printed


@pytest.mark.parametrize(
    ("depth_m", "shown"),
    [(WRIST_DEPTH_M, "0 mm"), (WRIST_DEPTH_M + 0.012, "12 mm"), (float("nan"), "no cannula")],
)
def test_the_depth_of_the_wrist_is_told_from_the_rule_that_holds(depth_m, shown) -> None:
    """The rule's 45 mm were written out once more there."""
    (row,) = [
        line
        for line in describe_plan(FlightPlan(wrist_depth=depth_m)).splitlines()
        if "cannula's rule" in line
    ]
    assert row.endswith(f"  {shown}")


def test_the_report_holds_no_number_of_the_cannula_rule() -> None:
    assert str(WRIST_DEPTH_M) not in Path(demo_report.__file__).read_text("utf-8")
