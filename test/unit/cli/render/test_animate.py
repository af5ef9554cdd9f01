"""The animation of a figure that is traced, tiny."""

from __future__ import annotations

import importlib.util
from io import BytesIO
from pathlib import Path

import pytest

from dvrk_kinematics.cli.render.animate import join, main, plan_figure
from dvrk_kinematics.errors import InvalidInput

image = pytest.importorskip("PIL.Image")
CAN_RENDER = importlib.util.find_spec("pyvista") is not None
TINY = ("--scale", "0.1", "--frames", "2", "--width", "64", "--height", "48")


def _squares(*levels: int) -> list[bytes]:
    pictures = []
    for level in levels:
        target = BytesIO()
        image.new("RGB", (32, 24), (level, 0, 0)).save(target, format="png")
        pictures.append(target.getvalue())
    return pictures


@pytest.mark.parametrize("suffix", [".webp", ".gif"])
def test_pictures_become_one_animation_that_runs_for_ever(suffix: str) -> None:
    made = image.open(BytesIO(join(_squares(0, 120, 240), suffix, 2.0)))
    assert made.n_frames == 3 and made.size == (32, 24)
    assert made.info["loop"] == 0


def test_what_is_no_animation_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidInput, match=r"must end with .webp or .gif, is '.mp4'"):
        join(_squares(0), ".mp4", 1.0)
    with pytest.raises(SystemExit):
        main(["--frames", "1"])
    assert "--frames must be 2 to" in capsys.readouterr().err


def test_the_motion_is_that_of_a_psm_through_the_whole_figure() -> None:
    plan = plan_figure(0.1)
    assert plan.flight_plan.ok and plan.flight_plan.length == pytest.approx(0.1 * 0.7915, rel=1e-3)


@pytest.mark.skipif(not CAN_RENDER, reason="requirements/render.txt is not installed")
def test_the_command_draws_a_tiny_animation(tmp_path: Path) -> None:
    file = tmp_path / "tiny.webp"
    assert main(["--output", str(file), *TINY]) == 0
    made = image.open(file)
    assert made.n_frames == 2 and made.size == (64, 48)


@pytest.mark.skipif(CAN_RENDER, reason="requirements/render.txt is installed")
def test_without_what_draws_a_sentence_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output", str(tmp_path / "tiny.webp"), *TINY]) == 1
    assert "requirements/render.txt" in capsys.readouterr().err
