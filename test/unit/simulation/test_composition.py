"""A simulated arm is put together from parts, and its rooms know only those below them."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

from dvrk_kinematics import simulation

ROOM = Path(simulation.__file__).parent
BELOW = {
    "plants": set(),
    "timing": set(),
    "control": {"plants"},
    "arm": {"control", "plants"},
    "kinds": {"arm", "control", "plants"},
}
MODULES = sorted(
    module.name for module in pkgutil.walk_packages([str(ROOM)], f"{simulation.__name__}.")
)


@pytest.mark.parametrize("name", MODULES)
def test_no_class_has_more_than_one_ancestor_of_its_own(name: str) -> None:
    for _, member in inspect.getmembers(importlib.import_module(name), inspect.isclass):
        own = [c for c in member.__mro__ if c.__module__.startswith(simulation.__name__)]
        assert len(own) <= 2, member


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    for path in (ROOM / room).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = str(node.module) if isinstance(node, ast.ImportFrom) else ""
            if module.startswith(f"{simulation.__name__}."):
                other = module.removeprefix(f"{simulation.__name__}.").split(".")[0]
                assert other not in BELOW or other == room or other in BELOW[room], path
