"""Rooms say what they are for and offer names, which pages and examples use."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "dvrk_kinematics"
ROOMS = sorted(file.parent for file in PACKAGE.rglob("__init__.py"))
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
WORKAROUNDS = sorted((PACKAGE / "ros" / "rclpy_ext").glob("[!_]*.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# Rooms whose names would drag rclpy, or a drawing library, into processes that must start quickly.
SENTENCE_ONLY = {
    "cli",
    "cli.render",
    "cli.workspace",
    "ros",
    "ros.arm_command",
    "ros.bridge",
    "ros.bringup",
    "ros.common",
    "ros.demo",
    "ros.rclpy_ext",
    "ros.recorder",
    "ros.servers",
    "ros.simulator",
}
# Not a room, but where every room's errors stand.
ERRORS = "dvrk_kinematics.errors"

_IMPORT = re.compile(r"^\s*(?:>>> )?(?:from|import) dvrk_kinematics\b.*", re.M)
_WORDS = re.compile(
    r"\bfrom (?P<room>dvrk_kinematics(?:\.\w+)*) import (?P<names>\([^)]*\)|[\w, ]+)"
)


def _name(room: Path) -> str:
    return ".".join(room.relative_to(ROOT).parts)


def _public_names(room: Path) -> list[str]:
    for node in ast.parse((room / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _offered() -> dict[str, list[str]]:
    return {_name(room): _public_names(room) for room in ROOMS}


@pytest.mark.parametrize("room", ROOMS, ids=_name)
def test_every_room_says_in_a_sentence_what_it_is_for(room: Path) -> None:
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    # An example of how the room is used may follow.
    sentence, _, example = (text or "").partition("\n\n")
    assert re.fullmatch(r"[A-Z][^.!?]*(?:\.(?=\S)[^.!?]*)*\.", sentence.replace("./", "")), text
    assert not example or example.startswith("::")


@pytest.mark.parametrize("room", ROOMS, ids=_name)
def test_every_room_has_the_names_that_it_offers(room: Path) -> None:
    names = _public_names(room)
    inside = _name(room).removeprefix("dvrk_kinematics.")
    assert bool(names) != (inside in SENTENCE_ONLY)
    if inside.startswith("ros"):
        pytest.importorskip("rclpy")
    module = importlib.import_module(_name(room))
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES], ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_and_examples_import_what_rooms_offer(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = list(_WORDS.finditer(text))
    assert len(found) >= len(_IMPORT.findall(text)), "an import that this test does not understand"
    offered = _offered()
    for match in found:
        room = match["room"]
        if room == ERRORS:
            continue
        assert room in offered, f"{room} is a file; import from the room that it is in"
        names = {name.strip() for name in match["names"].strip("()").split(",")} - {""}
        assert names <= set(offered[room]), f"{room} does not offer {names - set(offered[room])}"


@pytest.mark.parametrize("file", WORKAROUNDS, ids=lambda file: file.name)
def test_every_workaround_names_what_it_answers_and_the_test_that_shows_it(file: Path) -> None:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    assert re.search(r"^Answers rclpy \d+\.\d+\b", text, re.M), "which version of rclpy?"
    named = re.findall(r"``(test_\w+\.py)::(test_\w+)``", text)
    assert named, "which test?"
    for name, test in named:
        there = (ROOT / "test" / "ros" / "rclpy_ext" / name).read_text(encoding="utf-8")
        assert f"def {test}(" in there


def test_a_motion_is_planned_with_names_of_its_room_alone() -> None:
    wanted = {"MoveL", "MoveC", "MoveJ", "MoveAbsJ", "plan_motion", "TipSpeeds", "PlanOptions"}
    assert wanted <= set(_offered()["dvrk_kinematics.motion"])


def test_executables_begin_without_rclpy_or_numpy() -> None:
    """A Ctrl-C while a heavy library is imported would end them with a traceback."""
    code = (
        "import sys, dvrk_kinematics.ros.executables, dvrk_kinematics.ros.common; "
        "print(sorted({'rclpy', 'numpy', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
