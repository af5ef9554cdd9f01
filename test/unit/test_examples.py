from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Examples that need ROS are run with the tests that have it.
EXAMPLES = [
    path
    for path in sorted((ROOT / "examples").glob("*.py"))
    if "import rclpy" not in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run_and_are_short(path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
