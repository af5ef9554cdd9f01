"""Libraries beside the environment are installed once, and again when their file changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bootstrap import side_folder
from bootstrap.clone import WHEELS, Clone
from bootstrap.side_folder import ensure_side_folder


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The titles of the steps that were run, each of which only makes the folder."""
    titles: list[str] = []

    def run_step(title: str, command: Sequence[str], *_: Any) -> None:
        titles.append(title)
        Path(command[command.index("--target") + 1]).mkdir(parents=True)

    monkeypatch.setattr(side_folder, "run_step", run_step)
    monkeypatch.setattr(side_folder, "ensure_venv", lambda clone: clone.venv / "bin" / "python")
    return titles


def test_a_side_folder_is_made_once_and_again_when_its_file_changes(
    small_clone: Path, installed: list[str]
) -> None:
    clone = Clone(small_clone, WHEELS)
    clone.requirements("beside").write_text("leaflet==1.0\n")
    folder = ensure_side_folder(clone, "beside")
    assert folder.is_relative_to(clone.work)
    ensure_side_folder(clone, "beside")
    assert installed == ["install beside"]

    clone.requirements("beside").write_text("leaflet==2.0\n")
    (folder / "old").touch()
    ensure_side_folder(clone, "beside")
    assert installed == ["install beside"] * 2
    assert not (folder / "old").exists()


def test_a_side_folder_without_a_stamp_is_made_anew(
    small_clone: Path, installed: list[str]
) -> None:
    clone = Clone(small_clone, WHEELS)
    clone.requirements("beside").write_text("leaflet==1.0\n")
    (ensure_side_folder(clone, "beside") / "dvrk-stamp.json").unlink()
    ensure_side_folder(clone, "beside")
    assert installed == ["install beside"] * 2
