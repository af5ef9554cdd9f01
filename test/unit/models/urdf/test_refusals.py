"""What cannot be used is refused by file, joint and reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from urdf_text import LIMIT, joint_text, robot_text

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.models.urdf.urdf_model import read_urdf

GOOD = joint_text("j1", "a", "b")
BROKEN = {
    "mimic circle": (
        robot_text(
            joint_text("j1", "a", "b", '<mimic joint="j2"/>'),
            joint_text("j2", "b", "c", '<mimic joint="j1"/>'),
            links="a b c",
        ),
        r"r\.urdf: joint j1: mimics in a circle: j1 -> j2 -> j1",
    ),
    "mimic of itself": (
        robot_text(joint_text("j1", "a", "b", '<mimic joint="j1"/>'), links="a b"),
        "joint j1: mimics in a circle: j1 -> j1",
    ),
    "mimic of nothing": (
        robot_text(joint_text("j1", "a", "b", '<mimic joint="jx"/>'), links="a b"),
        "joint j1: mimics 'jx', which does not exist; valid: j1",
    ),
    "mimic of a fixed joint": (
        robot_text(
            joint_text("f", "a", "b", kind="fixed"),
            joint_text("j1", "b", "c", '<mimic joint="f"/>'),
            links="a b c",
        ),
        "joint j1: mimics 'f', which is fixed",
    ),
    "missing parent": (
        robot_text(joint_text("j1", "x", "b"), links="a b"),
        "joint j1: parent link 'x' does not exist; valid: a, b",
    ),
    "missing child": (
        robot_text(joint_text("j1", "a", "x"), links="a b"),
        "joint j1: child link 'x' does not exist; valid: a, b",
    ),
    "two parents": (
        robot_text(GOOD, joint_text("j2", "c", "b"), links="a b c"),
        "joint j2: link 'b' is already the child of 'j1'",
    ),
    "two roots": (robot_text(GOOD, links="a b c"), r"r\.urdf: has 2 root links \(a, c\)"),
    "circle of links": (
        robot_text(GOOD, joint_text("j2", "c", "d"), joint_text("j3", "d", "c")),
        "joint j2: hangs on itself",
    ),
    "long axis": (
        robot_text(joint_text("j1", "a", "b", '<axis xyz="0 0 2"/>'), links="a b"),
        r"joint j1: axis must have length 1, \[0\.0, 0\.0, 2\.0\] has 2",
    ),
    "no axis": (
        robot_text(joint_text("j1", "a", "b", '<axis xyz="0 0 0"/>'), links="a b"),
        "joint j1: axis must have length 1",
    ),
    "short axis": (
        robot_text(joint_text("j1", "a", "b", '<axis xyz="0 1"/>'), links="a b"),
        r"r\.urdf: is no URDF: .*",
    ),
    "axis that is not a number": (
        robot_text(joint_text("j1", "a", "b", '<axis xyz="0 0 z"/>'), links="a b"),
        r"r\.urdf: is no URDF: .*",
    ),
    "origin not finite": (
        robot_text(joint_text("j1", "a", "b", '<origin xyz="0 nan 0"/>'), links="a b"),
        "joint j1: origin xyz must be finite",
    ),
    "limit not finite": (
        robot_text(
            joint_text("j1", "a", "b", '<limit lower="-inf" upper="1" velocity="1" effort="1"/>'),
            links="a b",
        ),
        "joint j1: limit must be finite",
    ),
    "mimic not finite": (
        robot_text(
            GOOD, joint_text("j2", "b", "c", '<mimic joint="j1" multiplier="nan"/>'), links="a b c"
        ),
        "joint j2: mimic must be finite",
    ),
    "limits upside down": (
        robot_text(
            joint_text("j1", "a", "b", '<limit lower="2" upper="1" velocity="1" effort="1"/>'),
            links="a b",
        ),
        "joint j1: lower limit 2.0 is above upper limit 1.0",
    ),
    "no limits": (
        robot_text(joint_text("j1", "a", "b").replace(LIMIT, ""), links="a b"),
        "joint j1: a revolute joint needs a <limit>",
    ),
    "floating joint": (
        robot_text(joint_text("j1", "a", "b", kind="floating"), links="a b"),
        "joint j1: type 'floating' is not supported; valid: revolute",
    ),
    "unknown type": (
        robot_text(joint_text("j1", "a", "b", kind="elastic"), links="a b"),
        "Invalid joint type: elastic",
    ),
    "joint twice": (
        robot_text(GOOD, joint_text("j1", "b", "c"), links="a b c"),
        "joint j1: is given twi",
    ),
    "link twice": (robot_text(GOOD, links="a b a"), "link a: is given twice"),
    "nameless joint": (
        robot_text(GOOD.replace('name="j1" ', ""), links="a b"),
        "is no URDF: a <joint> has no name",
    ),
    "no XML": ("PSM1_base is the root", r"r\.urdf: is no XML: syntax error: line 1"),
    "cut off": (robot_text(GOOD, links="a b")[:-20], r"r\.urdf: is no XML"),
    "empty": ("", r"r\.urdf: is no XML: no element found"),
    "another root element": ("<sdf/>", r"is no URDF: the root element is <sdf>, not <robot>"),
    "no links": ('<robot name="r"/>', "has 0 root links"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_cannot_be_used_is_refused_with_file_joint_and_reason(
    what: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, message = BROKEN[what]
    file = tmp_path / "r.urdf"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message) as caught:
        read_urdf(file)
    assert str(file) in caught.value.source
    assert capfd.readouterr().err == "", "nothing is written past the error"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nothing\.urdf: cannot be read"):
        read_urdf(tmp_path / "nothing.urdf")
    (tmp_path / "binary.urdf").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match=r"binary\.urdf: cannot be read"):
        read_urdf(tmp_path / "binary.urdf")
