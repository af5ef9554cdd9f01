"""Examples do what they show, and stay short."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
# Examples that need ROS are run with the tests that have it.
EXAMPLES = [
    path
    for path in sorted((ROOT / "examples").glob("*.py"))
    if "rclpy" not in path.read_text(encoding="utf-8")
]
READS_A_BAG = ROOT / "examples" / "06_read_a_bag.py"


def run_example(path: Path, *arguments: str) -> str:
    """Run an example to its end; gives what it printed."""
    answer = subprocess.run(
        [sys.executable, str(path), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def write_bag(folder: Path) -> Path:
    """A small bag: the pitch goes from 0.1 to 0.3 rad, after a state that is not valid."""
    # Found by its file: tests are imported one by one, not as a package.
    bags = runpy.run_path(str(ROOT / "test" / "unit" / "cli" / "report" / "small_bags.py"))
    rows = [("/PSM1/measured_js", 0.0, bags["joints"](np.ones(2), names=("disc_1", "disc_2")))]
    for t in (0.1, 0.2, 0.3):
        q = np.array([0.0, t, 0.12, 0.0, 0.0, 0.0])
        rows.append(("/PSM1/measured_js", t, bags["joints"](q, bags["at"](t))))
    bag: Path = bags["write_bag"](folder, rows)
    return bag


@pytest.mark.parametrize("path", [p for p in EXAMPLES if p != READS_A_BAG], ids=lambda p: p.stem)
def test_examples_run(path: Path) -> None:
    assert run_example(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60


def test_the_example_that_reads_a_bag_tells_how_far_each_joint_went(tmp_path: Path) -> None:
    lines = run_example(READS_A_BAG, str(write_bag(tmp_path / "bag"))).splitlines()
    assert lines[0] == f"{tmp_path / 'bag'}: 0.3 s, 4 messages"
    assert lines[1].split() == ["/PSM1/measured_js", "sensor_msgs/msg/JointState", "4"]
    assert lines[3].split() == ["pitch", "from", "+0.1000", "to", "+0.3000"]


def test_the_example_that_reads_a_bag_takes_the_newest_that_was_closed(tmp_path: Path) -> None:
    example = tmp_path / "examples" / READS_A_BAG.name
    example.parent.mkdir()
    shutil.copy(READS_A_BAG, example)
    assert run_example(example) == "there is no bag yet; ./dvrk demo records one\n"
    demos = tmp_path / ".dvrk" / "demos"
    demos.mkdir(parents=True)
    for day in ("1", "2", "3"):
        (demos / day).mkdir()
        write_bag(demos / day / "bag")
    (demos / "3" / "bag" / "metadata.yaml").unlink()
    assert run_example(example).startswith(str(demos / "2" / "bag"))
