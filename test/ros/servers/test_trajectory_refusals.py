"""Goals that make no sense or cannot be done: each is told what and where, and nothing moves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from frame_publisher import FramePublisher
from motion_client import (
    CANCELED,
    START,
    MotionClient,
    abs_j,
    arc,
    check_refused,
    joints,
    line,
    make_processes,
)
from rclpy.node import Node

from dvrk_kinematics.geometry import se3

NAN, INF = float("nan"), float("inf")
AHEAD = se3.translation(np.array([0.01, 0.0, 0.0]))
TRIANGLE = [(0.0, 0.0, 0.0), (0.01, 0.0, 0.0), (0.0, 0.01, 0.0)]
STAR = [(0.02 * np.cos(a), 0.02 * np.sin(a), 0.0) for a in 0.8 * np.pi * np.arange(5)]
"""A pentagram, which turns the tool by 576 degrees."""
T_FIGURE = se3.translation(np.array([0.0, 0.0, -0.13]))

T_FAR = se3.translation(np.array([0.1, 0.1, -0.16]))
"""A way of several seconds from where the tests begin."""


@pytest.fixture(scope="module")
def arm(run: Any, node: Node, tmp_path_factory: pytest.TempPathFactory) -> MotionClient:
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "torn.yaml").write_text("name: torn\nsteps: [{move_x: {}}]\n")
    for process in make_processes(["PSM1"], str(folder)):
        run(process)
    client = MotionClient(node)
    client.get_ready()
    client.go_home()
    return client


def with_pose(**fields: float) -> Any:
    """A step whose orientation has other numbers."""
    step = line(AHEAD)
    for name, value in fields.items():
        setattr(step.cp.orientation, name, value)
    return step


def with_kind(kind: int) -> Any:
    step = line(AHEAD)
    step.kind = kind
    return step


MOVES: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "no steps": ((), {}, "PSM1: steps: there are none, and no recording"),
    "a negative speed": (
        (line(AHEAD), line(AHEAD, speed=-0.01)),
        {},
        "PSM1: steps[1].speed: must be positive and finite, is -0.01",
    ),
    "a speed that is NaN": ((line(AHEAD, speed=NAN),), {}, "steps[0].speed: must be positive"),
    "an infinite acceleration": ((line(AHEAD, acceleration=INF),), {}, "steps[0].acceleration"),
    "a negative turning": ((line(AHEAD, angular_speed=-1.0),), {}, "steps[0].angular_speed"),
    "a negative radius": ((line(AHEAD, blend_radius=-0.001),), {}, "steps[0].blend_radius"),
    "a radius where no corner is rounded": (
        (line(AHEAD), joints(AHEAD, blend_radius=0.005)),
        {},
        "steps[1].blend_radius: corners are rounded between MOVE_L only; must be 0, is 0.005",
    ),
    "a negative radius of an arc": (
        (arc((0.005, 0.005, 0.0), AHEAD, blend_radius=-0.005),),
        {},
        "steps[0].blend_radius",
    ),
    "a negative radius of joints": ((abs_j(START, blend_radius=-1.0),), {}, "s[0].blend_radius"),
    "more than all of the joints' speed": ((abs_j(START, speed=1.5),), {}, "in (0, 1], not 1.5"),
    "a negative part of the speed": ((joints(AHEAD, speed=-0.5),), {}, "in (0, 1], not -0.5"),
    "an invalid quaternion": ((with_pose(w=0.0),), {}, "steps[0].pose"),
    "a quaternion that is too long": ((with_pose(w=2.0),), {}, "quaternion of length 1"),
    "a quaternion that is NaN": ((with_pose(x=NAN),), {}, "steps[0].pose"),
    "another kind": ((with_kind(9),), {}, "steps[0].kind: must be 0 to 3, is 9"),
    "points of an arc in a row": (
        (arc((0.005, 0.0, 0.0), AHEAD),),
        {},
        "an arc needs three points apart and not in a row",
    ),
    "points of an arc that are the same": ((arc((0.0, 0.0, 0.0), AHEAD),), {}, "no circle goes"),
    "a point of an arc that is NaN": ((arc((NAN, 0.0, 0.0), AHEAD),), {}, "steps[0].via"),
    "too few joints": ((abs_j(START[:5]),), {}, "jp"),
    "joints that are NaN": ((abs_j(np.full(6, NAN)),), {}, "steps[0].jp"),
    "joints beyond a limit": (
        (line(AHEAD), abs_j([0.0, 0.0, 0.3, 0.0, 0.0, 0.0])),
        {},
        "position_limit, insertion 0.3, allowed 0.24",
    ),
    "a pose out of reach": (
        (joints(se3.translation(np.array([0.0, 0.0, 1.0]))),),
        {},
        "insertion",
    ),
    "a line that leaves the reach": (
        (line(se3.translation(np.array([0.0, 0.0, 0.5]))),),
        {},
        "m along the path",
    ),
    "a wrist in the cannula": (
        (line(se3.translation(np.array([0.0, 0.0, -0.08])), speed=0.01, acceleration=0.02),),
        {},
        "in_cannula",
    ),
    "a frame that is not there": ((line(AHEAD, "nowhere"),), {}, "frame 'nowhere' is not on tf"),
    "a frame of another arm": ((line(AHEAD, "PSM2_base"),), {}, "frame 'PSM2_base' is not on tf"),
    "another scaling": ((line(AHEAD),), {"scaling": "cubic"}, "unknown scaling 'cubic'; valid: "),
    "another policy": ((line(AHEAD),), {"policy": "best"}, "policy: must be one of exact, pos"),
    "a recording that is not there": ((), {"recording": "none"}, "unknown recording 'none'"),
    "an invalid recording": (
        (),
        {"recording": "torn"},
        "torn.yaml: steps.0: must have one key",
    ),
    "a recording outside": ((), {"recording": "../torn"}, "is neither a name nor a .yaml"),
    "a recording of nobody": ((), {"recording": "~nosuchuser"}, "there is no such user"),
    "a recording with a name of a megabyte": (
        (),
        {"recording": "x" * 1_000_000},
        "(1000000 characters) is too long; allowed are 255 in a name",
    ),
    "a recording and steps": ((line(AHEAD),), {"recording": "torn"}, "not both"),
    "a recording of a recording": ((), {"recording": "torn", "record_as": "b"}, "record_as"),
    "a name that no file could have": ((line(AHEAD),), {"record_as": "a/b"}, "name: must be 1 to"),
    "more rounds than a goal can hold": (
        (line(AHEAD),),
        {"repeat": 2**32 - 1},
        "repeat: 4294967295 times 1 steps are more than the 10000 knots of a goal",
    ),
    "more than an hour": (
        (line(AHEAD, speed=0.001),),
        {"repeat": 5000},
        "PSM1: motion: takes ",
    ),
    "a line that takes for ever": ((line(AHEAD, speed=1e-12),), {}, "s that can be planned"),
    "joints far beyond a limit": (
        (abs_j([0.0, 0.0, 1e200, 0.0, 0.0, 0.0]),),
        {},
        "position_limit, insertion 1e+200, allowed 0.24 (the target)",
    ),
    "too fast for a joint": (
        (line(AHEAD, speed=2.0, acceleration=50.0),),
        {},
        "times slower: set slow_down to true, in the goal or in PlanOptions",
    ),
    "joint positions that are relative": (
        (abs_j(START, relative=True),),
        {},
        "PSM1: steps[0].relative: is for poses; MOVE_ABS_J takes joint positions",
    ),
    "a start in the past": ((line(AHEAD),), {"start_ns": 10**9}, "s in the past"),
}


@pytest.mark.parametrize("case", MOVES)
def test_moves_that_make_no_sense_move_nothing(arm: MotionClient, case: str) -> None:
    steps, fields, words = MOVES[case]
    with arm.standing_still():
        check_refused(arm.move(*steps, **fields), words)


TRACES: dict[str, tuple[dict[str, Any], str]] = {
    "no scale": ({"T": T_FIGURE}, "PSM1: scale: must be positive and finite, is 0.0"),
    "a negative scale": ({"scale": -1.0, "T": T_FIGURE}, "scale: must be positive"),
    "a negative scale to be placed": ({"scale": -1.0, "place": True}, "scale: must be positive"),
    "a scale that is NaN": ({"scale": NAN, "T": T_FIGURE}, "scale: must be positive"),
    "a negative speed": ({"scale": 0.1, "T": T_FIGURE, "speed": -0.1}, "speed: must be positive"),
    "one corner": (
        {"scale": 1.0, "T": T_FIGURE, "corners": TRIANGLE[:1]},
        "corners: a figure needs at least three, got 1",
    ),
    "a corner twice": (
        {"scale": 1.0, "T": T_FIGURE, "corners": [TRIANGLE[0], *TRIANGLE]},
        "corners[1]: repeats corner 0",
    ),
    "a corner off the plane": (
        {"scale": 1.0, "T": T_FIGURE, "corners": [*TRIANGLE, (0.0, 0.005, 0.001)]},
        "corners",
    ),
    "a corner that is NaN": (
        {"scale": 1.0, "T": T_FIGURE, "corners": [*TRIANGLE, (NAN, 0.005, 0.0)]},
        "corners[3]: must be finite",
    ),
    "an invalid quaternion": (
        {"scale": 0.1, "T": T_FIGURE, "quaternion_length": 0.0},
        "quaternion of length 1",
    ),
    "a figure in the tool": ({"scale": 0.1, "T": T_FIGURE, "frame": "tool"}, "figure: its frame"),
    "a figure in a frame that is not there": (
        {"scale": 0.1, "T": T_FIGURE, "frame": "nowhere"},
        "frame 'nowhere' is not on tf",
    ),
    "a figure out of reach": (
        {"scale": 0.1, "T": se3.translation(np.array([0.0, 0.0, -1.0]))},
        "figure: its first corner",
    ),
    "another orientation": (
        {"scale": 0.1, "T": T_FIGURE, "orientation": "free"},
        'PSM1: orientation: must be "along" or "fixed", is \'free\'',
    ),
    "a figure that turns the tool too far": (
        {"scale": 0.0, "place": True, "corners": STAR},
        "PSM1: polygon: fits nowhere, whatever its size: it turns the tool by 576 degrees, and "
        'roll has 520; the orientation "fixed" needs no turn',
    ),
    "a figure that leaves the reach": ({"scale": 3.0, "T": T_FIGURE}, "m along the path"),
    "a start that is too soon": (
        {"scale": 1.0, "corners": TRIANGLE, "T": T_FAR, "start_ns": -1},
        "but the way to the start takes",
    ),
}


@pytest.mark.parametrize("case", TRACES)
def test_figures_that_make_no_sense_move_nothing(arm: MotionClient, case: str) -> None:
    fields, words = TRACES[case]
    fields = dict(fields)
    if fields.get("start_ns") == -1:
        # Late enough to be in the future when it is looked at, too soon for the way to the figure,
        # which takes 3.5 s.
        fields["start_ns"] = time.time_ns() + 3_300_000_000
    with arm.standing_still():
        check_refused(arm.trace(**fields), words)


def test_a_start_right_after_the_way_to_the_begin_moves_nothing(arm: MotionClient) -> None:
    figure = {"scale": 1.0, "corners": TRIANGLE, "T": T_FAR}
    with arm.standing_still():
        soon = arm.trace(**figure, start_ns=time.time_ns() + 3_300_000_000).result.message
        way_s = float(soon.partition("the way to the start takes ")[2].partition(" s")[0])
        # Planning makes it sooner still.
        start_ns = time.time_ns() + round((way_s + 0.45) * 1e9)
        check_refused(arm.trace(**figure, start_ns=start_ns), "and 0.5 s must be left after it")


def test_a_stale_frame_moves_nothing(arm: MotionClient, node: Node) -> None:
    frames = FramePublisher(node)

    def ask() -> str:
        return str(arm.move(line(np.eye(4), "buoy"), plan_only=True).result.message)

    def until(done: Callable[[str], bool]) -> None:
        arm.until(lambda: done(ask()), "buoy")

    with frames.moving("PSM1_base", "buoy", lambda: arm.model.forward(START)):
        until(lambda message: message == "planned, not moved" or "path" in message)
    until(lambda message: "s old" in message)
    with arm.standing_still():
        check_refused(arm.move(line(AHEAD, "buoy")), "s old; at most 0.5 s is allowed")


def test_a_goal_that_is_cancelled_while_it_is_planned_does_not_move(arm: MotionClient) -> None:
    with arm.standing_still():
        # The largest that fits: that is looked for several seconds.
        goal = arm.send_trace(scale=0.0, place=True)
        goal.cancel(60.0)
        done = goal.result(60.0)
    assert done.status == CANCELED, done.result.message
    assert done.result.message == "cancelled while it was planned"


def test_a_second_goal_while_one_is_planned_is_refused(arm: MotionClient) -> None:
    with arm.standing_still():
        first = arm.send_trace(scale=0.0, place=True, plan_only=True)
        second = arm.move(line(AHEAD))
        check_refused(second, "PSM1: goal: another one is being planned; send it again later")
        assert first.result(60.0).result.success
