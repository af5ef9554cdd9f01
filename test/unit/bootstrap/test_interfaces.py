"""Interface packages: built where nobody else provides them, and anew when they change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bootstrap import interfaces
from bootstrap.clone import WHEELS, Clone
from bootstrap.interfaces import ensure_interfaces, list_packages

COMPAT = ["control_msgs", "crtk_msgs", "tf2_msgs"]
OURS = "dvrk_kinematics_interfaces"


@dataclass
class Builder:
    """Takes the place of colcon: installs an empty package for each that it is asked to build."""

    clone: Clone
    built: list[str] = field(default_factory=list)
    is_interrupted: bool = False

    def run_step(self, _title: str, command: Sequence[str], *_: Any) -> None:
        start = command.index("--paths") + 1
        for source in map(Path, command[start : command.index("--cmake-args")]):
            (self.clone.interfaces / "install" / source.name).mkdir(parents=True)
            self.built.append(source.name)
            if self.is_interrupted:
                raise KeyboardInterrupt

    def built_by_start(self) -> list[str]:
        """What one more start builds."""
        self.built.clear()
        prefixes = ensure_interfaces(self.clone)
        assert all((prefix / "dvrk-stamp.json").exists() for prefix in prefixes)
        return list(self.built)


@pytest.fixture
def builder(small_clone: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    builder = Builder(Clone(small_clone, WHEELS))
    monkeypatch.setattr(interfaces, "run_step", builder.run_step)
    monkeypatch.setattr(interfaces, "check_compilers", lambda _: None)
    monkeypatch.setattr(interfaces, "ensure_venv", lambda *_: None)
    return builder


def provide(prefix: Path, *names: str) -> None:
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for name in names:
        (index / name).touch()


def test_with_wheels_every_package_is_built_whatever_is_on_the_path(
    small_clone: Path, tmp_path: Path
) -> None:
    provide(tmp_path / "other", "tf2_msgs")
    environ = {"AMENT_PREFIX_PATH": str(tmp_path / "other")}
    packages = list_packages(Clone(small_clone, WHEELS), environ)
    assert [package.name for package in packages] == [*COMPAT, OURS]


@pytest.mark.parametrize("provided", [[], ["tf2_msgs"], ["tf2_msgs", "control_msgs"], COMPAT])
def test_where_ros_is_sourced_only_what_it_lacks_is_built(
    small_clone: Path, tmp_path: Path, provided: list[str]
) -> None:
    provide(tmp_path / "ros", *provided)
    environ = {"AMENT_PREFIX_PATH": f":/nowhere:{tmp_path / 'ros'}"}
    packages = list_packages(Clone(small_clone, "jazzy"), environ)
    assert [p.name for p in packages] == [n for n in [*COMPAT, OURS] if n not in provided]


def test_a_workspace_that_was_built_with_colcon_needs_nothing(
    small_clone: Path, tmp_path: Path, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide(tmp_path / "workspace", *COMPAT, OURS)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "workspace"))
    builder.clone = Clone(small_clone, "jazzy")
    assert builder.built_by_start() == []
    assert not builder.clone.work.exists()


def test_a_second_start_builds_nothing(builder: Builder) -> None:
    assert builder.built_by_start() == [*COMPAT, OURS]
    assert builder.built_by_start() == []


@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_a_changed_interface_builds_its_package_again(builder: Builder, change: str) -> None:
    builder.built_by_start()
    folder = builder.clone.root / "interfaces" / OURS / "srv"
    if change == "edit":
        (folder / "SolveFk.srv").write_text("---\n")
    elif change == "add":
        (folder / "Another.srv").write_text("---\n")
    else:
        (folder / "SolveFk.srv").unlink()
    assert builder.built_by_start() == [OURS]
    assert builder.built_by_start() == []


def test_an_interrupted_build_is_made_anew(builder: Builder) -> None:
    builder.is_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        builder.built_by_start()
    builder.is_interrupted = False
    assert builder.built_by_start() == [*COMPAT, OURS]


def test_a_lost_stamp_builds_its_package_again_from_an_empty_folder(builder: Builder) -> None:
    builder.built_by_start()
    prefix = builder.clone.interfaces / "install" / OURS
    (prefix / "dvrk-stamp.json").unlink()
    (prefix / "half").touch()
    assert builder.built_by_start() == [OURS]
    assert not (prefix / "half").exists()


def test_wheels_that_a_build_depends_on_ask_for_a_new_one_and_others_do_not(
    builder: Builder,
) -> None:
    builder.built_by_start()
    requirements = builder.clone.requirements("interfaces")
    requirements.write_text(requirements.read_text() + "# a remark\nleaflet==1.0\n")
    assert builder.built_by_start() == []
    requirements.write_text(requirements.read_text() + "ros-jazzy-leaflet==1.0\n")
    assert builder.built_by_start() == [*COMPAT, OURS]


def test_a_moved_clone_is_built_anew(builder: Builder, tmp_path: Path) -> None:
    builder.built_by_start()
    builder.clone.root.rename(tmp_path / "moved")
    builder.clone = Clone(tmp_path / "moved", WHEELS)
    assert builder.built_by_start() == [*COMPAT, OURS]


def test_the_users_own_colcon_settings_do_not_reach_the_build(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    environs: list[dict[str, str]] = []

    def run_step(
        title: str, command: list[str], log: Path, environ: dict[str, str], *_: Any
    ) -> None:
        environs.append(environ)
        builder.run_step(title, command)

    monkeypatch.setattr(interfaces, "run_step", run_step)
    monkeypatch.setenv("COLCON_DEFAULTS_FILE", os.devnull)
    builder.built_by_start()
    assert "COLCON_DEFAULTS_FILE" not in environs[0]
    assert environs[0]["COLCON_HOME"].startswith(str(builder.clone.work))
