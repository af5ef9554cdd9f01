"""Damaged URDFs and xacro files: each is read, or refused by file and place, in linear time.

``DVRK_CAMPAIGN=50`` makes the campaign fifty times as long.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hostile_text import URDF, damage
from urdf_text import joint_text, robot_text

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.models.urdf.describe_urdf import describe, expand
from dvrk_kinematics.models.urdf.solids import read_solids
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf, read_urdf

ARMS = ("PSM1", "ECM", "SUJ_PSM1", "RVM1")
GOOD = robot_text(joint_text("j1", "a", "b"), links="a b")


def _outcome(file: Path, seed: int) -> str:
    """Whether a URDF was read or refused; anything else fails with the seed that repeats it."""
    try:
        with np.errstate(all="ignore"):
            urdf = read_urdf(file)
            read_solids(file.read_text(encoding="utf-8"), str(file))
            LinkTree(urdf.links, urdf.joint_names).frames(np.zeros(len(urdf.joint_names)))
    except ModelError as error:
        assert file.name in error.source, f"seed {seed}: {error}"
        return "refused"
    except BaseException as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}") from error
    return "loaded"


@pytest.mark.parametrize("arm", ARMS)
def test_a_damaged_urdf_is_read_or_refused_by_file_and_place(
    arm: str,
    described: Any,
    tmp_path: Path,
    campaign: Callable[[int], int],
    record_property: Callable[[str, object], None],
) -> None:
    whole = described(arm).encode()
    file = tmp_path / "damaged.urdf"
    outcomes: Counter[str] = Counter()
    for seed in range(campaign(25)):
        file.write_bytes(damage(whole, Random(f"{arm} {seed}"), URDF))
        outcomes[_outcome(file, seed)] += 1
    record_property("outcomes", dict(outcomes))
    assert outcomes["refused"] > 0


REFUSED = {
    "depth of 300": (
        GOOD.replace("</robot>", "<x>" * 300 + "</x>" * 300 + "</robot>"),
        r"line 1: is no URDF: <x> is nested deeper than 100 elements",
    ),
    "depth of 100 000": (
        "<robot>\n" + "<x>" * 100_000,
        r"line 2: is no URDF: <x> is nested deeper than 100 elements",
    ),
    "a parameter entity": (
        '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>' + GOOD,
        "line 1: is no URDF: it has a DOCTYPE",
    ),
    "a billion laughs": (
        '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>' + GOOD.replace("j1", "&b;"),
        "it has a DOCTYPE",
    ),
    "a lone surrogate": (GOOD.replace("j1", "j\ud800"), "is no XML: character .*surrogates"),
    "an entity of a surrogate": (GOOD.replace("j1", "j&#xD800;"), "is no XML: reference to inv"),
    "an inertia without mass": (
        GOOD.replace(
            '<link name="a"/>',
            '<link name="a"><inertial><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
            "</inertial></link>",
        ),
        "is no URDF: .*mass",
    ),
    "mimics that multiply without end": (
        robot_text(
            joint_text("j1", "a", "b"),
            joint_text("j2", "b", "c", '<mimic joint="j1" multiplier="1e200"/>'),
            joint_text("j3", "c", "d", '<mimic joint="j2" multiplier="1e200"/>'),
        ),
        "joint j3: mimic of a mimic must be finite",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_hostile_urdf_is_refused_with_its_place(
    what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text, reason = REFUSED[what]
    with pytest.raises(ModelError, match=reason) as caught:
        parse_urdf(text, "hostile.urdf")
    assert caught.value.source.startswith("hostile.urdf")
    assert capfd.readouterr().err == ""


def test_a_comment_of_50_megabytes_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "long.urdf"
    file.write_text(GOOD.replace("</robot>", f"<!--{'x' * 50_000_000}--></robot>"))
    assert read_urdf(file).joint_names == ("j1",)


@pytest.mark.parametrize("encoding", ["klingon", "utf-16", "latin-1", "UTF-8"])
def test_text_is_read_whatever_encoding_it_declares(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "declared.urdf"
    declared = f'<?xml version="1.0" encoding="{encoding}"?>\n'
    file.write_text(declared + GOOD.replace("j1", "grüß"), encoding="utf-8")
    assert read_urdf(file).joint_names == ("grüß",)


def test_a_remark_about_a_material_does_not_reach_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    parse_urdf(GOOD.replace('<link name="a"/>', '<material name="m"/><link name="a"/>'))
    assert capfd.readouterr().err == ""


def test_a_mimic_chain_of_3000_is_followed_in_linear_time() -> None:
    """Once 78 s: every joint walked the whole chain, and looked for itself in a list of it."""
    count = 3000
    joints = [joint_text("j0", "l0", "l1")]
    for i in range(1, count):
        mimic = f'<mimic joint="j{i - 1}" multiplier="-1" offset="0.5"/>'
        joints.append(joint_text(f"j{i}", f"l{i}", f"l{i + 1}", mimic))
    # From the last to the first: the first one that is followed leads through all others.
    text = robot_text(*reversed(joints), links=" ".join(f"l{i}" for i in range(count + 1)))
    before = time.process_time()
    urdf = parse_urdf(text)
    assert time.process_time() - before < 20.0
    assert urdf.joint_names == ("j0",)
    last = urdf.movable[f"j{count - 1}"]
    assert (last.joint, last.multiplier, last.offset) == ("j0", -1.0, 0.5)


XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
BROKEN_XACRO = {
    "division by zero": XACRO.format("${1/0}"),
    "a file that is not there": XACRO.format('<xacro:include filename="nowhere.xacro"/>'),
    "a file that includes itself": XACRO.format('<xacro:include filename="r.urdf.xacro"/>'),
    "a macro that calls itself": XACRO.format(
        '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>'
    ),
    "no such file of YAML": XACRO.format("${xacro.load_yaml('nowhere.yaml')}"),
    "depth of 3000": XACRO.format("<x>" * 3000 + "</x>" * 3000),
    "a macro without a name": XACRO.format("<xacro:macro/>"),
    "a loop without values": XACRO.format('<xacro:if value="perhaps"/>'),
    "an argument that is not there": XACRO.format("$(arg nothing)"),
    "a package that is not there": XACRO.format("$(find no_such_package_anywhere)"),
}


@pytest.mark.parametrize("what", BROKEN_XACRO)
def test_a_hostile_xacro_file_is_refused_by_its_name(what: str, tmp_path: Path) -> None:
    file = tmp_path / "r.urdf.xacro"
    file.write_text(BROKEN_XACRO[what])
    with pytest.raises(ModelError) as caught:
        expand(file)
    assert caught.value.source == str(file) and caught.value.reason


HOSTILE_ARGUMENTS = ("${1/0}", '"/><x a="', "\ud800", "\0")


@pytest.mark.parametrize("argument", ["prefix", "instrument", "xyz"])
def test_hostile_arguments_of_a_description_give_a_urdf_or_a_refusal(argument: str) -> None:
    for value in HOSTILE_ARGUMENTS:
        try:
            parse_urdf(describe("PSM1", **{argument: value}), "psm.urdf")
        except ModelError as error:
            assert error.reason
