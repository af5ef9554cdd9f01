"""The xacro files expand the same from everywhere, quickly, silently, and say no clearly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dvrk_kinematics.errors import MissingExtra, ModelError, UnknownName
from dvrk_kinematics.models.urdf.describe_urdf import describe, expand, urdf_files

ROOT = Path(__file__).resolve().parents[4]
FILES = ["psm", "ecm", "suj", "patient_cart", "torso_scene", "rvm1", "cyber310"]
CHECK_URDF = shutil.which("check_urdf")


def _xacro(file: str, *arguments: str, cwd: Path) -> str:
    """Runs xacro as a user would, with nothing set that ROS would set."""
    environ = {k: v for k, v in os.environ.items() if "ROS" not in k and "AMENT" not in k}
    done = subprocess.run(
        [sys.executable, "-c", "import xacro; xacro.main()", file, *arguments],
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == "", "no warnings"
    return done.stdout


def _body(text: str) -> str:
    """Without the banner, which names the file."""
    return ElementTree.tostring(ElementTree.fromstring(text), encoding="unicode")


def test_the_files_are_listed() -> None:
    assert set(urdf_files()) == set(FILES)


def test_expansion_is_the_same_from_everywhere(tmp_path: Path, described: Any) -> None:
    wanted = _body(described("PSM1", instrument="400117"))
    arguments = ("arm:=PSM1", "instrument:=400117")
    # The source tree, by a relative path.
    assert _body(_xacro("urdf/psm.urdf.xacro", *arguments, cwd=ROOT)) == wanted
    # An installed share folder.
    share = tmp_path / "install" / "share" / "dvrk_kinematics"
    shutil.copytree(ROOT / "urdf", share / "urdf")
    shutil.copytree(ROOT / "config", share / "config")
    file = str(share / "urdf" / "psm.urdf.xacro")
    assert _body(_xacro(file, *arguments, cwd=tmp_path)) == wanted
    # A user's own file elsewhere, by a path of its own.
    own = tmp_path / "own" / "mine.urdf.xacro"
    own.parent.mkdir()
    own.write_text(
        '<robot name="psm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="../install/share/dvrk_kinematics/urdf/macros/materials.xacro"/>'
        '<xacro:include filename="../install/share/dvrk_kinematics/urdf/macros/psm.xacro"/>'
        '<xacro:dvrk_materials/><xacro:dvrk_psm prefix="PSM1_" instrument="400117"/></robot>'
    )
    links = [e.get("name") for e in ElementTree.fromstring(wanted).iter("link")]
    mine = ElementTree.fromstring(_xacro("own/mine.urdf.xacro", cwd=tmp_path))
    assert [e.get("name") for e in mine.iter("link")] == links


@pytest.mark.parametrize("arm", ["PSM1", "ECM", "SUJ_PSM1", "SUJ_ECM", "RVM1", "CYBER310"])
def test_an_arm_expands_in_less_than_a_second(arm: str) -> None:
    """Processor time, and up to three tries, since machines are shared."""
    assert any(_seconds(arm) < 1.0 for _ in range(3))


def _seconds(arm: str) -> float:
    begin = time.process_time()
    describe(arm)
    return time.process_time() - begin


@pytest.mark.parametrize("name", FILES)
def test_urdfdom_and_pinocchio_accept_it(name: str, expanded: Any, oracle: Any) -> None:
    text = expanded(name)
    assert oracle(text).model.nq > 0
    if CHECK_URDF is not None:
        done = subprocess.run(
            [CHECK_URDF, "/dev/stdin"], input=text, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert "Successfully Parsed XML" in done.stdout


def test_prefixes_and_parent_are_arguments(oracle: Any) -> None:
    text = describe(
        "PSM2", prefix="left/", joint_prefix="left_", parent="table", xyz="0 0 0.5", rpy="0 0 0"
    )
    robot = oracle(text)
    assert {"left_yaw", "left_jaw"} <= robot.joints
    frames = robot.frames({})
    assert "table" in frames and frames["left/base"][2, 3] == 0.5
    root = ElementTree.fromstring(text)
    for joint in root.iter("joint"):
        assert str(joint.get("name")).startswith("left_")
    for link in root.iter("link"):
        assert link.get("name") == "table" or str(link.get("name")).startswith("left/")


def test_a_single_arm_has_its_base_as_root(described: Any) -> None:
    for arm in ("PSM1", "ECM", "SUJ_PSM1", "RVM1", "CYBER310"):
        root = ElementTree.fromstring(described(arm))
        children = {child.get("link") for child in root.iter("child")}
        links = [link.get("name") for link in root.iter("link")]
        assert [name for name in links if name not in children] == [f"{arm}_base"]
        assert f"{arm}_tip" in links


@pytest.mark.parametrize("arm", ["PSM1", "ECM", "SUJ"])
def test_an_si_arm_is_refused_by_name(arm: str) -> None:
    with pytest.raises(ModelError, match=r"generation Si of \w+: its linkage is not known"):
        describe(arm, generation="Si")


def test_an_instrument_of_the_si_is_refused() -> None:
    with pytest.raises(ModelError, match="LARGE_NEEDLE_DRIVER_420006 fits the Si PSM"):
        describe("PSM1", instrument="420006")


def test_unknown_names_answer_with_the_valid_ones() -> None:
    with pytest.raises(ModelError, match=r"unknown instrument 42; valid: .*CAUDIER"):
        describe("PSM1", instrument="42")
    with pytest.raises(ModelError, match="unknown setup joint arm SUJ_X; valid: SUJ_PSM1"):
        describe("SUJ_X")
    with pytest.raises(UnknownName, match="MTML"):
        describe("MTML")
    with pytest.raises(UnknownName, match="patient_cart"):
        expand("nothing")
    with pytest.raises(ModelError, match="does not exist"):
        expand(Path("nowhere.urdf.xacro"))


def test_a_file_that_is_no_xml_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broken.urdf.xacro"
    file.write_text("<robot>")
    with pytest.raises(ModelError, match=r"broken\.urdf\.xacro: is no XML: no element found"):
        expand(file)


def test_without_xacro_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(MissingExtra, match="install xacro"):
        describe("PSM1")
