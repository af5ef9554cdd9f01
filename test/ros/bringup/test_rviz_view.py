"""What RViz is told to show: the arms that run, by their own names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dvrk_kinematics.ros.bringup.launch import LAUNCHES
from dvrk_kinematics.ros.bringup.rviz_view import make_view
from dvrk_kinematics.ros.bringup.system import make_processes
from dvrk_kinematics.ros.bringup.up import parse
from dvrk_kinematics.ros.common.arm_roster import ARMS, CART


def _read_view(arguments: list[str]) -> dict[str, Any]:
    (rviz,) = [p for p in make_processes(parse([*arguments, "rviz:=true"])) if p.label == "rviz2"]
    assert rviz.arguments[0] == "-d"
    view: dict[str, Any] = yaml.safe_load(Path(rviz.arguments[1]).read_text(encoding="utf-8"))
    return view["Visualization Manager"]


def _topics(manager: dict[str, Any]) -> list[str]:
    shown = manager["Displays"]
    return [d["Description Topic"]["Value"] for d in shown if "Description Topic" in d]


def _axes(manager: dict[str, Any]) -> list[str]:
    return [d["Reference Frame"] for d in manager["Displays"] if "Reference Frame" in d]


@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_is_shown_by_its_own_names(arm) -> None:
    manager = _read_view([f"arm:={arm}"])
    assert _topics(manager) == [f"/{arm}/robot_description"]
    assert manager["Global Options"]["Fixed Frame"] == f"{arm}_base"
    assert manager["Views"]["Current"]["Target Frame"] == f"{arm}_base"
    assert _axes(manager) == [f"{arm}_base", f"{arm}_tip"]
    assert arm == "PSM1" or "PSM1" not in yaml.safe_dump(manager)


def test_prefix_and_namespace_are_followed() -> None:
    manager = _read_view(["arm:=PSM2", "prefix:=left/{arm}/", "namespace:=lab"])
    assert _topics(manager) == ["/lab/PSM2/robot_description"]
    markers = [d["Topic"]["Value"] for d in manager["Displays"] if "Topic" in d]
    assert markers == ["/lab/bridge/PSM2/not_homed"]
    assert _axes(manager) == ["PSM2_base", "left/PSM2/tip"]


def test_several_arms_without_a_cart_are_all_shown() -> None:
    manager = _read_view(["--arm", "PSM1", "--arm", "PSM3"])
    assert _topics(manager) == ["/PSM1/robot_description", "/PSM3/robot_description"]
    assert manager["Global Options"]["Fixed Frame"] == "PSM1_base"
    assert [d["Name"] for d in manager["Displays"]].count("Grid") == 1


def test_a_cart_is_shown_with_its_setup_joints() -> None:
    manager = _read_view(["--cart", "namespace:=lab"])
    assert _topics(manager) == [f"/lab/{arm}/robot_description" for arm in ("SUJ", *CART)]
    assert manager["Global Options"]["Fixed Frame"] == "SUJ_cart"


def test_view_shows_an_arm_that_runs_already() -> None:
    told = {"arm": "RVM1", "prefix": "{arm}_", "namespace": "lab"}
    (rviz,) = LAUNCHES["view"].make(told)
    file = Path(rviz.arguments[1])
    assert yaml.safe_load(file.read_text()) == make_view(["RVM1"], "{arm}_", "lab")
    assert LAUNCHES["view"].make(told)[0].arguments == rviz.arguments, "one file for one system"
