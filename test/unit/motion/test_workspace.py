"""Maps of the dexterous workspace."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import Arm
from dvrk_kinematics.cli.workspace import __main__ as workspace
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.workspace import Axes, make_orientations, workspace_map

DOCS = Path(__file__).resolve().parents[3] / "docs"
PNG = b"\x89PNG\r\n\x1a\n"
DOWN = np.array([0.0, 0.0, -1.0])


def test_the_map_counts_what_the_arm_can_reach(psm: Arm) -> None:
    orientations = make_orientations(directions=20, spins=4)
    found = workspace_map(psm, Axes([0.0, 0.05], [-0.02, 0.03, 0.04], [-0.15]), orientations)
    assert found.fraction.shape == (2, 3, 1)
    for i, x in enumerate(found.x):
        for j, y in enumerate(found.y):
            T = se3.make(orientations, [x, y, -0.15])
            assert found.fraction[i, j, 0] == psm.reachable(T).mean()


def test_a_tool_is_most_dexterous_straight_below_and_not_at_all_out_of_reach(psm: Arm) -> None:
    found = workspace_map(psm, Axes([0.0, 0.1, 0.3], 0.0, [-0.15]))
    below, aside, beyond = found.fraction[:, 0, 0]
    assert below > aside > 0.0
    assert beyond == 0.0


def test_the_cannula_rule_counts(psm: Arm) -> None:
    straight = so3.rot_x(np.pi)[None]
    depths = np.array([-0.045 - 0.0091 + 1e-4, -0.045 - 0.0091 - 1e-4])
    T = se3.make(straight, np.column_stack([np.zeros((2, 2)), depths]))
    assert psm.reachable(T).all(), "the joint limits alone allow both"
    found = workspace_map(psm, Axes(0.0, 0.0, depths), straight)
    np.testing.assert_array_equal(found.fraction[0, 0], [0.0, 1.0])


def test_orientations_are_spread_evenly_over_the_cone() -> None:
    R = make_orientations(directions=500, spins=6, cone=np.radians(60.0))
    assert R.shape == (3000, 3, 3)
    so3.check(R)
    tilt = np.arccos(R[:, :, 2] @ DOWN)
    assert tilt.max() < np.radians(60.0)
    # A cap's height is even for even directions.
    assert np.mean(np.cos(tilt)) == pytest.approx(0.75, abs=1e-3)
    np.testing.assert_allclose(R[:, :2, 2].mean(axis=0), 0.0, atol=0.01)
    aside = make_orientations(directions=50, spins=1, axis=(1.0, 0.0, 0.0))
    assert (aside[:, 0, 2] > 0.0).all()


def test_all_directions_can_be_asked_for() -> None:
    R = make_orientations(directions=100, spins=1, cone=np.pi)
    np.testing.assert_allclose(R[:, :, 2].mean(axis=0), 0.0, atol=0.02)


def test_what_makes_no_map_is_refused(psm: Arm) -> None:
    with pytest.raises(InvalidInput, match="x: must be one or more finite coordinates"):
        workspace_map(psm, Axes([np.nan], 0.0, 0.0))
    with pytest.raises(InvalidInput, match="z: must be one or more finite coordinates"):
        workspace_map(psm, Axes(0.0, 0.0, []))
    with pytest.raises(InvalidInput, match="orientations: is no rotation"):
        workspace_map(psm, Axes(0.0, 0.0, -0.1), np.ones((1, 3, 3)))
    with pytest.raises(InvalidInput, match=r"orientations: need shape \(K, 3, 3\)"):
        workspace_map(psm, Axes(0.0, 0.0, -0.1), np.eye(3))
    for directions, spins in ((0, 1), (1, 0)):
        with pytest.raises(InvalidInput, match="must be at least 1"):
            make_orientations(directions, spins)
    for cone in (0.0, 4.0, np.nan):
        with pytest.raises(InvalidInput, match="cone: must be within"):
            make_orientations(cone=cone)


def test_the_pictures_are_there_small_and_shown() -> None:
    shown = re.findall(r"!\[.+?\]\(images/(\w+)\.png\)", (DOCS / "block_o.md").read_text())
    assert set(shown) == {"workspace_psm", "block_o"}
    for name in shown:
        content = (DOCS / "images" / f"{name}.png").read_bytes()
        assert content.startswith(PNG)
        assert len(content) < 300_000, name


def test_the_command_draws_both_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="the pictures need requirements/render.txt")
    polygon = tmp_path / "wedge.yaml"
    polygon.write_text("corners: [[0.0, 0.0], [0.06, 0.0], [0.0, 0.04]]")
    asked = ["--step", "40", "--scale", "1", "--figure", str(polygon)]
    assert workspace.main([*asked, "--output", str(tmp_path)]) == 0
    assert "scale 1, margin 0." in capsys.readouterr().out
    for name in ("workspace_psm", "wedge"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["portrait"], "workspace: unknown picture 'portrait'; valid: map, figure"),
        (["figure", "--scale", "big"], "scale: must be a number or \"largest\", is 'big'"),
        (["figure", "--scale", "-1"], "scale: must be positive and finite, is -1"),
        (["figure", "--figure", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
        (["map", "--step", "0"], "step: must be within [0.5, 100] mm, is 0"),
        (["map", "--arm", "leg"], "unknown arm 'leg'"),
        (["map", "--step", "80"], "matplotlib is not installed; install requirements/render.txt"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert workspace.main([*arguments, "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
