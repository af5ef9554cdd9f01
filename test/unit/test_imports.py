"""Imports point one way, as the architecture draws them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "dvrk_kinematics"

# What a room may import from the package, besides itself and errors.
BELOW = {
    "geometry": set(),
    "bags": set(),
    "models": {"geometry"},
    "kinematics": {"geometry", "models"},
    "motion": {"geometry", "models", "kinematics"},
}
CORE = set(BELOW["motion"]) | {"motion"}
for upper in ("simulation", "driver"):
    BELOW[upper] = CORE
BELOW["cli"] = CORE | {"simulation", "driver", "bags"}
BELOW["ros"] = CORE | {"simulation", "driver", "bags"}
WITH_ROS = {"ros"}
# The rooms that need no more than what is always installed.
PURE = {
    "geometry": {"numpy"},
    "models": {"numpy", "yaml", "urdf_parser_py", "xacro"},
    "kinematics": {"numpy", "scipy"},
}
STANDARD = set(sys.stdlib_module_names)

FILES = sorted(PACKAGE.rglob("*.py"))


def _imports(path: Path) -> list[tuple[str, int]]:
    """Every module that a file imports, also inside functions, with its line."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            module = str(node.module)
            found += [(f"{module}.{alias.name}", node.lineno) for alias in node.names]
    return found


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def test_there_are_files_to_look_at() -> None:
    rooms = {_room(path) for path in FILES}
    assert rooms - {""} == set(BELOW), "a new room needs its arrows here, one that went loses them"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_imports_up(path: Path) -> None:
    room = _room(path)
    for module, line in _imports(path):
        where = f"{path.relative_to(PACKAGE.parent)}:{line} imports {module}"
        top, *rest = module.split(".")
        if top == "dvrk_kinematics" and room:
            target = rest[0] if rest else ""
            is_room = (PACKAGE / target).is_dir()
            assert not is_room or target == room or target in BELOW[room], where
        if top == "rclpy" or top.endswith("_msgs") or top.endswith("_interfaces"):
            assert room in WITH_ROS, where
        if top == "mujoco":
            assert path.relative_to(PACKAGE) == Path("simulation/plants/dynamic.py"), where


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_pure_rooms_need_only_what_is_always_installed(path: Path) -> None:
    allowed = PURE.get(_room(path))
    if allowed is None:
        return
    for module, line in _imports(path):
        top = module.split(".")[0]
        assert top in allowed | STANDARD | {"dvrk_kinematics"}, f"{path}:{line} imports {module}"
