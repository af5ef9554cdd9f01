"""The documentation builds as a site, without a warning and without anything from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"

pytest.importorskip("mkdocs", reason="requirements/docs.txt is not installed")


def build(clone: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a clone as ./dvrk docs does."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=clone,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this clone."""
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    assert not re.search("warning|error", built.stderr, re.IGNORECASE), built.stderr
    return folder


def read_text(page: Path) -> str:
    """What a reader sees of a page, as one line."""
    body = page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", "", body)).split())


def list_loaded(site: Path) -> Iterator[tuple[Path, str]]:
    """Everything that the pages load or link to by a full address."""
    for page in site.rglob("*.html"):
        for address in re.findall(
            r'(?:src|href)="((?:https?:)?//[^"]+)"', page.read_text(encoding="utf-8")
        ):
            yield page, address


def test_every_page_of_docs_is_in_the_site(site: Path) -> None:
    pages = [file.relative_to(DOCS).with_suffix(".html") for file in DOCS.rglob("*.md")]
    assert len(pages) > 30
    for page in pages:
        assert (site / page).is_file(), page


def test_nothing_comes_from_other_hosts(site: Path) -> None:
    assert list(list_loaded(site)) == []


@pytest.mark.parametrize(
    ("room", "names"),
    [
        ("kinematics", ("load_arm", "Arm", "inverse_batch", "IkResult")),
        ("motion", ("plan_motion", "MoveL", "FlightPlan")),
        ("driver", ("Guard", "Player")),
        ("geometry", ("wrap_to_pi", "translation")),
        ("errors", ("PlanRefused",)),
    ],
)
def test_api_pages_show_what_a_room_offers(site: Path, room: str, names: tuple[str, ...]) -> None:
    page = (site / "reference" / "api" / f"{room}.html").read_text(encoding="utf-8")
    for name in names:
        assert re.search(rf'id="dvrk_kinematics\.{room}\.(\w+\.)?{name}"', page), name


def test_what_a_docstring_says_is_on_its_page(site: Path) -> None:
    text = read_text(site / "reference" / "api" / "kinematics.html")
    assert "The arm carries no instrument, or not one of that generation" in text


@pytest.mark.parametrize(
    "file",
    [
        "examples/00_first_motion.py",
        "config/models/rvm1.yaml",
        "interfaces/dvrk_kinematics_interfaces/srv/SolveIk.srv",
    ],
)
def test_files_that_pages_link_to_are_in_the_site(site: Path, file: str) -> None:
    lines = (ROOT / file).read_text(encoding="utf-8").split()
    assert " ".join(lines) in read_text(site / "files" / f"{file}.html")


def test_the_home_page_leads_to_what_a_reader_wants_to_do(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8").partition("<article")[2]
    for page in ("start/without_ros", "start/first_motion", "howto/moveit", "howto/add_an_arm"):
        assert f'href="{page}.html"' in home


@pytest.mark.parametrize(
    ("link", "warning"),
    [
        ("absent.md", "a link 'absent.md', but the target is not found"),
        ("../absent.py", "links to ../absent.py, which is not a file of the clone"),
        ("../README.md#absent", "does not contain an anchor '#absent'"),
        ("../README.md", ""),
    ],
)
def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path, link: str, warning: str) -> None:
    hook = DOCS / "tools" / "outside_pages.py"
    checks = "validation: {anchors: warn, unrecognized_links: warn}"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n[link]({link})\n")
    (tmp_path / "README.md").write_text("# Here\n")
    (tmp_path / "mkdocs.yml").write_text(f"site_name: small\nhooks: [{hook}]\n{checks}\n")
    built = build(tmp_path, tmp_path / "site")
    assert (built.returncode == 0) == (not warning), built.stderr
    assert warning in built.stderr
