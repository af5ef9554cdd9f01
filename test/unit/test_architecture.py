"""The tree that docs/architecture.md draws is the one on disk."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "dvrk_kinematics"


def test_the_tree_in_the_architecture_is_the_tree_on_disk() -> None:
    rooms = sorted(file.parent for file in PACKAGE.rglob("__init__.py"))
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (tree,) = re.findall(r"^    dvrk_kinematics/\n(?:     .*\n)+", text, re.M)
    drawn: list[str] = []
    above: list[str] = []
    for line in tree.splitlines():
        match = re.fullmatch(r" {4}((?:  )*)(\w+)/(?: {2,}\S.*)?", line)
        assert match, f"not a folder with what it is for: {line!r}"
        above = [*above[: len(match[1]) // 2], match[2]]
        drawn.append(".".join(above))
    assert sorted(drawn) == [".".join(room.relative_to(ROOT).parts) for room in rooms]
    beside = [path for path in PACKAGE.rglob("*.py") if not (path.parent / "__init__.py").exists()]
    assert beside == [], "a folder without an __init__ is no room"
