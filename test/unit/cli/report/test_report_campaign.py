"""Damaged and hostile bags: each gets a report, or one sentence with the cause.

DVRK_CAMPAIGN multiplies how many there are, and DVRK_CAMPAIGN_DRAWN is the part that is drawn:

    DVRK_CAMPAIGN=20 DVRK_CAMPAIGN_DRAWN=0.05 ./dvrk test test/unit/cli/report -k campaign
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from hostile_bags import make_bag

from dvrk_kinematics.cli.report.__main__ import main
from dvrk_kinematics.cli.report.figures import compute_figures
from dvrk_kinematics.cli.report.page import make_page
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.errors import DvrkError

BAGS = max(1, round(100 * float(os.environ.get("DVRK_CAMPAIGN", "1"))))
BATCHES = 10
FIRST_SEED = 14_000_000
DRAWN = float(os.environ.get("DVRK_CAMPAIGN_DRAWN", "0.02"))
"""Part of the bags whose plots are drawn as well, which takes a second each."""

MEMORY = 2**31
"""Bytes that a report may take beyond what the process has."""

LONGEST_S = 120


@contextmanager
def bounded() -> Iterator[None]:
    """Neither more memory nor more time than any of these small bags may need."""

    def stop(_sign: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"still not done after {LONGEST_S} s")

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + MEMORY, hard))
    signal.alarm(LONGEST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


def report(bag: Path, page: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the whole command says: the sentence, or "" if it wrote a report."""
    code = main([str(bag), "--output", str(page), "--png"])
    told = capsys.readouterr()
    if code == 0:
        assert told.err == "" and page.read_bytes().endswith(b"</html>\n")
        return ""
    assert code == 1 and not page.exists()
    assert told.err.startswith("report: ") and told.err.endswith("\n")
    return told.err[:-1]


def make_figures(bag: Path) -> str:
    """The same without drawing."""
    try:
        recording = read_recording(bag)
        figures, curves = compute_figures(recording)
        assert make_page(figures, [[] for _ in curves], "")
    except DvrkError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_hostile_bag_gets_a_report_or_a_sentence(
    batch: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(batch, BAGS, BATCHES):
        seed = FIRST_SEED + number
        folder = tmp_path / str(seed)
        bag = make_bag(folder, seed)
        is_drawn = random.Random(seed).random() < DRAWN
        try:
            with warnings.catch_warnings(), bounded():
                # A warning on the way to a number is a number that is wrong.
                warnings.simplefilter("error")
                page = tmp_path / f"{seed}.html"
                told = report(bag, page, capsys) if is_drawn else make_figures(bag)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
        assert told.isprintable() and len(told) < 5000, f"seed {seed}: {told}"
        shutil.rmtree(folder)
