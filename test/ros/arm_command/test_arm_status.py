"""What ./dvrk arm shows and reads: texts for people, without any process."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.ros.arm_command.arm_status import (
    ArmStatus,
    ShownJoint,
    describe_status,
    find_next_step,
    summarise_status,
)
from dvrk_kinematics.ros.arm_command.command import parse
from dvrk_kinematics.ros.arm_command.read_target import find_duration, read_target
from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine
from dvrk_kinematics.ros.common.quantity import Quantity, read_quantity, show_quantity

READY = {"state": "ENABLED", "is_homed": "True", "enabled_here": "True", "hardware": "simulated"}
HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])


def make_status(**connection: str) -> ArmStatus:
    """An arm at rest whose insertion is 5 mm from its limit."""
    lines = {
        "connection": DiagnosticLine(0.0, 0, READY | connection, "ENABLED"),
        "motion": DiagnosticLine(0.0, 0, {"speed_scaling_input": "0.5"}, "at rest"),
        "last stop": DiagnosticLine(
            0.0,
            0,
            {"stop_age_s": "3.2", "refused": "not homed: call home", "refusal_age_s": "61.7"},
            "cancelled",
        ),
    }
    joints = (
        ShownJoint("yaw", Quantity.ANGLE, 0.1, -1.5, 1.5),
        ShownJoint("insertion", Quantity.LENGTH, 0.235, 0.0, 0.24),
    )
    jaw = ShownJoint("jaw", Quantity.ANGLE, pi / 6.0, -0.7, 1.4)
    T = np.eye(4)
    T[:3, 3] = [0.01, -0.02, -0.1]
    return ArmStatus("PSM1", "PSM1_base", "", joints, jaw, T, 0.5, lines)


def test_a_status_holds_everything_with_units_for_people() -> None:
    text = describe_status(make_status())
    first, *rows = text.splitlines()
    assert first == "PSM1: ENABLED, homed; at rest"
    told = {row.split("  ")[1]: row for row in rows}
    assert "5.73 deg" in told["yaw"] and "margin 80.21 deg" in told["yaw"]
    assert "235.00 mm" in told["insertion"] and "margin 5.00 mm" in told["insertion"]
    assert "30.00 deg" in told["jaw (opening)"]
    assert told["tip"].endswith("  x 10.00, y -20.00, z -100.00 mm in PSM1_base")
    assert told["orientation"].endswith("quaternion 0.0000, 0.0000, 0.0000, 1.0000")
    assert told["nearest limit"].endswith("insertion, 5.00 mm")
    assert told["speed scale"].endswith("50% (asked for 50%)")
    assert told["last stop"].endswith("cancelled, 3 s ago")
    assert told["last refusal"].endswith("not homed: call home, 62 s ago")
    assert "next:" not in text
    assert max(len(row) for row in text.splitlines()) <= 80


def test_a_line_for_logs_holds_what_a_status_holds() -> None:
    assert summarise_status(make_status()).split("; ") == [
        "PSM1: ENABLED, homed",
        "at rest",
        "yaw 5.73 deg, insertion 235.00 mm",
        "tip x 10.00, y -20.00, z -100.00 mm in PSM1_base, "
        "quaternion 0.0000, 0.0000, 0.0000, 1.0000",
        "nearest limit insertion, 5.00 mm",
        "speed scale 50% (asked for 50%)",
        "last refusal not homed: call home, 62 s ago",
    ]
    bare = replace(make_status(is_homed="False"), joints=(), jaw=None, T_base_tip=None, speed=None)
    assert summarise_status(bare).split("; ")[2:] == [
        "no valid joints",
        "speed scale unknown",
        "last refusal not homed: call home, 62 s ago",
    ]


@pytest.mark.parametrize(
    ("said", "verb"),
    [
        ({"state": "DISABLED", "is_homed": "False", "enabled_here": "False"}, "enable"),
        ({"state": "FAULT"}, "enable"),
        ({"enabled_here": "False"}, "enable"),
        ({"is_homed": "False"}, "home"),
        ({"state": "PAUSED", "enabled_here": "False"}, "resume"),
    ],
)
def test_a_status_names_the_next_command(said: dict[str, str], verb: str) -> None:
    status = make_status(**said)
    assert find_next_step(status) == f"./dvrk arm PSM1 {verb}"
    assert describe_status(status).endswith(f"\nnext: ./dvrk arm PSM1 {verb}")
    elsewhere = find_next_step(replace(status, namespace="lab/desk"))
    assert elsewhere == f"./dvrk arm PSM1 {verb} --namespace lab/desk"
    assert parse(elsewhere.split()[2:]).namespace == "lab/desk"


def test_what_is_not_known_is_said_so() -> None:
    text = describe_status(replace(make_status(), joints=(), jaw=None, T_base_tip=None, lines={}))
    assert "no diagnostics were heard of its bridge" in text
    assert all(f"  {name}  unknown" in text for name in ("joints      ", "last refusal"))


def test_nothing_is_told_of_a_bridge_that_is_silent() -> None:
    silent = ArmStatus("PSM1", "PSM1_base", silent_s=7.2)
    first, *rows = describe_status(silent).splitlines()
    assert first == "PSM1: the bridge has been silent for 7 s"
    assert {row.split()[-1] for row in rows} == {"unknown"}
    assert summarise_status(silent).startswith("PSM1: the bridge has been silent for 7 s; ")


@pytest.mark.parametrize(
    ("text", "quantity", "value"),
    [
        ("30deg", Quantity.ANGLE, pi / 6.0),
        ("-0.5", Quantity.ANGLE, -0.5),
        (" 1e-2 rad", Quantity.ANGLE, 0.01),
        (".5mm", Quantity.LENGTH, 5e-4),
        ("-5mm/s", Quantity.SPEED, -5e-3),
        ("10deg/s", Quantity.ANGULAR_SPEED, pi / 18.0),
        ("250ms", Quantity.TIME, 0.25),
    ],
)
def test_numbers_are_read_with_their_units(text: str, quantity: Quantity, value: float) -> None:
    assert read_quantity("it", text, quantity) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "deg", "30mm", "nan", "inf", "1e999", "1,5deg", "5 5", "x" * 900]
)
def test_what_is_not_such_a_number_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(DvrkError, match=r"^it: .* such as 30deg \(without a unit it is in rad\)"):
        read_quantity("it", text, Quantity.ANGLE)


def test_numbers_are_shown_without_a_minus_zero() -> None:
    assert show_quantity(-1e-9, Quantity.LENGTH) == "0.00 mm"
    assert show_quantity(2.0, Quantity.TIME) == "2.00 s"


def test_joints_and_tips_are_read_as_targets() -> None:
    psm = load_arm("PSM")
    q = read_target(psm, HOME, ["yaw=10deg", "insertion+=10mm"])
    assert q == pytest.approx([pi / 18.0, 0.0, 0.13, 0.0, 0.0, 0.0])
    T = psm.forward(read_target(psm, q, ["x=0", "z+=-5mm"]))
    expected = psm.forward(q)
    expected[0, 3], expected[2, 3] = 0.0, expected[2, 3] - 0.005
    np.testing.assert_allclose(T, expected, rtol=0.0, atol=1e-9)
    turned = psm.forward(read_target(psm, HOME, ["quaternion=0.7071068,0.7071068,0,0"]))
    assert turned == pytest.approx(psm.forward(HOME), abs=1e-6)


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (["yaw"], "write NAME=VALUE, such as yaw=10deg"),
        (["yow=1"], "unknown joint or axis 'yow'; valid: yaw, pitch, insertion"),
        (["yaw=1mm"], "yaw: '1mm' cannot be read"),
        (["yaw=1", "yaw=2"], "each may be named once"),
        (["yaw=1", "x=0"], "joints or axes of the tip, not both"),
        (["z=-1"], "the tip cannot get there: "),
        (["quaternion=1,2"], "write quaternion=X,Y,Z,W"),
        (["quaternion+=0,0,0,1"], "write quaternion=X,Y,Z,W"),
    ],
)
def test_targets_that_make_no_sense_are_refused(targets: list[str], words: str) -> None:
    with pytest.raises(DvrkError) as caught:
        read_target(load_arm("PSM"), HOME, targets)
    assert words in str(caught.value)


def test_a_motion_takes_as_long_as_a_part_of_the_limits_needs() -> None:
    limits = make_motion_limits(load_arm("PSM"))
    far = HOME + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    slow, quick = (find_duration(HOME, far, limits, speed) for speed in (0.1, 1.0))
    assert slow >= 1.0 / (0.1 * limits.velocity[0]) and slow > 2.0 * quick
    assert find_duration(HOME, HOME, limits, 1.0) > 0.0


def test_negative_numbers_and_a_namespace_behind_the_verb_are_understood() -> None:
    options = parse(["PSM1", "jog", "x", "-5mm/s", "2s", "--namespace", "left"])
    assert (options.speed.strip(), options.duration, options.namespace) == ("-5mm/s", 2.0, "left")
    assert parse(["--namespace", "left", "PSM1", "status"]).namespace == "left"
    assert parse(["PSM1", "jaw", "-10deg"]).opening == pytest.approx(-pi / 18.0)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["PSM1"],
        ["PSM1", "dance"],
        ["PSM1", "jaw", "30mm"],
        ["PSM1", "jog", "x", "5mm/s", "-2s"],
        ["PSM1", "go", "yaw=1", "--speed", "2"],
    ],
)
def test_wrong_arguments_end_with_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(arguments)
    assert caught.value.code == 2
    assert "usage: ./dvrk arm" in capsys.readouterr().err
