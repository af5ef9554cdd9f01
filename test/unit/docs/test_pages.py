"""What the pages show of Python runs, or at least imports what there is to import."""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
HOW_TO = ROOT / "docs" / "howto"
FILES = [
    file.relative_to(ROOT).as_posix()
    for folder in ("dvrk_kinematics", "test", "examples", "launch", "docs", "urdf", "bench")
    for file in (ROOT / folder).rglob("*")
]
THEIRS = {"dvrk_bag_replay.py", "urdf/myarm.urdf.xacro"}
"""Files of the dVRK, and those that a reader is to make."""


def read_blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def run(block: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(block, "<page>", "exec"), names)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_what_a_page_imports_from_the_package_is_there(page: Path) -> None:
    for block in read_blocks(page):
        for node in ast.walk(ast.parse(block)):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            if node.module.split(".")[0] != "dvrk_kinematics" or ".ros" in node.module:
                continue
            module = importlib.import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name), f"{node.module}.{alias.name}"


def test_the_how_to_about_inverse_kinematics_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = run(read_blocks(HOW_TO / "ik_from_your_node.md")[0])
    assert names["found"].ok
    assert "'insertion': 0.12" in capsys.readouterr().out.replace("np.float64(", "")


def test_the_how_to_about_figures_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = HOW_TO / "trace_your_own_figure.md"
    (figure,) = re.findall(
        r"^    # house\.yaml\n(?:    .+\n)+", page.read_text(encoding="utf-8"), re.M
    )
    (tmp_path / "house.yaml").write_text(textwrap.dedent(figure))
    monkeypatch.chdir(tmp_path)
    names = run(read_blocks(page)[0])
    assert names["house"].name == "house"
    assert names["plan"].flight_plan.ok


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "urdf/README.md"])
def test_links_of_pages_outside_docs_lead_somewhere(page: str) -> None:
    """Those of docs/ are looked at when the site is built."""
    links = re.findall(r"\]\((?!\w+:)([^)#]+)", (ROOT / page).read_text("utf-8"))
    assert links
    for link in links:
        assert ((ROOT / page).parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    """Documents outlive the moves of files; whole paths and names alone both count."""
    named = re.findall(r"(?<![\w/.-])[\w/.-]*\w\.(?:py|xacro)(?!\w)", page.read_text("utf-8"))
    for name in named:
        wanted = name.lstrip("./")
        if wanted not in THEIRS and not name.startswith("/"):
            assert any(f"/{file}".endswith(f"/{wanted}") for file in FILES), name
