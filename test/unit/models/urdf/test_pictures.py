"""The pictures of the documentation: what they show, where they are, and how they are refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dvrk_kinematics.cli.render import __main__ as render
from dvrk_kinematics.cli.render.scenes import SCENES, Scene
from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf

DOCS = Path(__file__).resolve().parents[4] / "docs"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_is_within_the_limits_of_its_arms(name: str, expanded: Any) -> None:
    scene = SCENES[name]
    text = expanded(scene.description)
    positions = scene.positions(text)
    joints = {joint.name: joint for joint in parse_urdf(text).joints}
    assert set(positions) <= set(joints)
    for joint, value in positions.items():
        assert joints[joint].lower <= value <= joints[joint].upper, joint
    assert all(np.isfinite(T).all() for T in render.pose(scene, text).values())


def test_both_instruments_meet_inside_the_torso(expanded: Any) -> None:
    scene = SCENES["torso"]
    frames = render.pose(scene, expanded("torso_scene"))
    tips = [frames[f"PSM{i}_tip"][:3, 3] for i in (1, 2)]
    assert np.linalg.norm(tips[0] - tips[1]) < 0.06
    for i, tip in enumerate(tips, 1):
        port = frames[f"PSM{i}_base"][:3, 3]
        shaft = frames[f"PSM{i}_insertion_link"]
        assert tip[2] < port[2] - 0.05, "the tip is below the port"
        assert np.linalg.norm(np.cross(shaft[:3, 2], shaft[:3, 3] - port)) < 1e-9


def test_a_scene_that_moves_a_joint_that_is_not_there_is_refused() -> None:
    scene = Scene("ecm", eye=(1, 1, 1), target=(0, 0, 0), joints={"elbow": 0.1})
    with pytest.raises(UnknownName, match="elbow"):
        render.pose(scene, scene.text())


def test_the_pictures_are_there_small_and_shown() -> None:
    shown = re.findall(r"!\[.+?\]\(images/(\w+)\.png\)", (DOCS / "urdf.md").read_text())
    assert set(shown) == set(SCENES)
    for name in SCENES:
        content = (DOCS / "images" / f"{name}.png").read_bytes()
        assert content.startswith(PNG)
        assert len(content) < 300_000, name


def test_what_cannot_be_drawn_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert render.main(["portrait", "--output", str(tmp_path)]) == 1
    assert "unknown picture 'portrait'; valid: psm" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "pyvista", None)
    assert render.main(["ecm", "--output", str(tmp_path)]) == 1
    assert "pyvista is not installed; install requirements/render.txt" in capsys.readouterr().err
