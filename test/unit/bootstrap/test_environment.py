"""The environment is made once, completed purpose by purpose, and never trusted half-made."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bootstrap import environment
from bootstrap.clone import WHEELS, Clone
from bootstrap.environment import ensure_venv
from bootstrap.problems import Problem

CREATE = "make the virtual environment"
BASE = "install ros, core, interfaces"


@dataclass
class Installer:
    """Takes the place of venv and pip: notes the steps, and can be interrupted in one of them."""

    clone: Clone
    steps: list[str] = field(default_factory=list)
    interrupted_in: str = ""

    def run_step(self, title: str, _command: Sequence[str], *_: Any) -> None:
        self.steps.append(title)
        if title == CREATE:
            interpreter = self.clone.venv / "bin" / "python"
            interpreter.parent.mkdir(parents=True, exist_ok=True)
            interpreter.touch()
        if title == self.interrupted_in:
            raise KeyboardInterrupt

    def steps_of(self, *extras: str) -> list[str]:
        """The steps of one more start."""
        self.steps.clear()
        ensure_venv(self.clone, extras)
        return list(self.steps)


@pytest.fixture
def installer(small_clone: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    installer = Installer(Clone(small_clone, WHEELS))
    monkeypatch.setattr(environment, "run_step", installer.run_step)
    monkeypatch.setattr(environment, "check_machine", lambda _: None)
    return installer


def edit_stamp(clone: Clone, edit: Callable[[dict[str, Any]], None]) -> None:
    file = clone.venv / "dvrk-stamp.json"
    stamp = json.loads(file.read_text())
    edit(stamp)
    file.write_text(json.dumps(stamp))


def test_a_second_start_has_nothing_to_do(installer: Installer) -> None:
    assert installer.steps_of() == [CREATE, BASE]
    assert installer.steps_of() == []


def test_a_fresh_start_installs_all_purposes_in_one_go(installer: Installer) -> None:
    assert installer.steps_of("test") == [CREATE, f"{BASE}, test"]
    assert installer.steps_of() == []


def test_an_extra_is_added_to_what_is_there_and_stays(installer: Installer) -> None:
    installer.steps_of()
    assert installer.steps_of("test") == ["install test"]
    assert installer.steps_of("cmake") == ["install cmake"]
    assert installer.steps_of("test") == []


def test_changed_requirements_install_that_purpose_again(installer: Installer) -> None:
    installer.steps_of("test")
    with installer.clone.requirements("core").open("a") as file:
        file.write("# changed\n")
    assert installer.steps_of() == ["install core"]
    with installer.clone.requirements("test").open("a") as file:
        file.write("# changed\n")
    assert installer.steps_of() == []
    assert installer.steps_of("test") == ["install test"]


@pytest.mark.parametrize("step", [CREATE, f"{BASE}, test"])
def test_an_interrupted_making_is_made_anew(installer: Installer, step: str) -> None:
    installer.interrupted_in = step
    with pytest.raises(KeyboardInterrupt):
        installer.steps_of("test")
    installer.interrupted_in = ""
    assert installer.steps_of("test") == [CREATE, f"{BASE}, test"]
    assert installer.steps_of("test") == []


def test_an_interrupted_addition_distrusts_the_whole(installer: Installer) -> None:
    installer.steps_of()
    installer.interrupted_in = "install test"
    with pytest.raises(KeyboardInterrupt):
        installer.steps_of("test")
    installer.interrupted_in = ""
    assert installer.steps_of() == [CREATE, BASE]


def test_a_lost_stamp_while_marked_as_begun_is_made_anew(installer: Installer) -> None:
    installer.interrupted_in = BASE
    with pytest.raises(KeyboardInterrupt):
        installer.steps_of()
    assert not (installer.clone.venv / "dvrk-stamp.json").exists()
    installer.interrupted_in = ""
    assert installer.steps_of() == [CREATE, BASE]


@pytest.mark.parametrize(
    ("key", "value"),
    [("python", "3.9.1"), ("base", "/opt/other"), ("at", "/elsewhere/.venv")],
)
def test_an_environment_of_another_python_or_place_is_made_anew(
    installer: Installer, key: str, value: str
) -> None:
    installer.steps_of()
    edit_stamp(installer.clone, lambda stamp: stamp["identity"].update({key: value}))
    assert installer.steps_of() == [CREATE, BASE]


def test_a_moved_clone_is_made_anew(installer: Installer, tmp_path: Path) -> None:
    installer.steps_of()
    moved = tmp_path / "moved"
    installer.clone.root.rename(moved)
    installer.clone = Clone(moved, WHEELS)
    assert installer.steps_of() == [CREATE, BASE]


def test_a_lost_interpreter_is_noticed(installer: Installer) -> None:
    installer.steps_of()
    (installer.clone.venv / "bin" / "python").unlink()
    assert installer.steps_of() == [CREATE, BASE]


def test_an_environment_of_somebody_else_is_left_alone(installer: Installer) -> None:
    theirs = installer.clone.venv / "lib" / "theirs.py"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    with pytest.raises(Problem, match=r"not made by \./dvrk; move it away"):
        installer.steps_of()
    assert installer.steps == []
    assert theirs.exists()


def test_an_unfit_machine_is_refused_before_the_first_step(
    installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise Problem("unfit")

    monkeypatch.setattr(environment, "check_machine", refuse)
    with pytest.raises(Problem, match="unfit"):
        installer.steps_of()
    assert installer.steps == []
    assert not installer.clone.venv.exists()


def test_where_ros_is_sourced_only_the_extra_is_installed_and_not_into_dot_venv(
    installer: Installer,
) -> None:
    installer.clone = Clone(installer.clone.root, "jazzy")
    assert installer.steps_of("test") == [CREATE, "install test"]
    assert installer.steps_of("test") == []
    assert not (installer.clone.root / ".venv").exists()
