"""Numbers that are far too large or small are told as what they are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dvrk_kinematics_interfaces.msg import MotionStep
from geometry_msgs.msg import Point, Pose

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.motion.figures.figure import Orientation, check_scale
from dvrk_kinematics.motion.timing.speeds import TipSpeeds
from dvrk_kinematics.ros.demo.block_o_client import TracedFigure
from dvrk_kinematics.ros.servers.motion_messages import read_figure, read_steps

HUGE, TINY = 1e308, 5e-324
FAR = Pose(position=Point(x=-HUGE))


@pytest.mark.parametrize("kind", [MotionStep.MOVE_J, MotionStep.MOVE_L, MotionStep.MOVE_C])
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"cp": FAR}, "steps[0].cp.position: 1e+308 is too far away; at most 1e+06"),
        ({"via": FAR}, "steps[0].via.position: 1e+308 is too far away"),
        ({"speed": HUGE}, "steps[0].speed: must be from 1e-30 to 1e+30, or 0"),
        ({"acceleration": TINY}, "steps[0].acceleration: must be from 1e-30 to 1e+30, or 0"),
    ],
)
def test_a_number_that_would_overflow_is_named(
    kind: int, fields: dict[str, Any], words: str
) -> None:
    speeds = TipSpeeds(0.02, 0.05, 0.5, 1.0)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        read_steps([MotionStep(kind=kind, **fields)], lambda _: "base", speeds, 0.2)


def test_a_figure_of_no_size_that_can_be_computed_is_refused() -> None:
    for scale in (HUGE, TINY):
        with pytest.raises(InvalidInput, match="must be from 1e-06 to 1e"):
            check_scale(scale)
    corners = [Point(x=x, y=y) for x, y in ((0.0, 0.0), (HUGE, 0.0), (0.0, HUGE))]
    with pytest.raises(InvalidInput, match="too far away"):
        read_figure(corners)


def test_the_orientation_of_a_figure_goes_from_client_to_plan() -> None:
    for trace, wanted in (
        (TracedFigure(), "along"),
        (TracedFigure(orientation=Orientation.FIXED), "fixed"),
    ):
        goal = trace.goal()
        assert goal.orientation == wanted
        assert read_figure(goal.corners, goal.orientation).orientation == wanted
    assert read_figure([]).orientation is Orientation.ALONG, "a goal that does not say it"
