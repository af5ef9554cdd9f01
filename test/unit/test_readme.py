"""What the README and the first pages show runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics import load_arm

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
WITHOUT_ROS = ROOT / "docs" / "start" / "without_ros.md"
FIRST_MOTION = ROOT / "docs" / "start" / "first_motion.md"


def run_block(page: Path) -> dict[str, Any]:
    """Run the only Python block of a page; gives its names."""
    (block,) = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    exec(compile(block, str(page), "exec"), names)
    return names


def read_checklist(page: Path) -> list[str]:
    """What is to be ticked before a real arm is enabled."""
    return re.findall(r"^- \[ \] (.+)$", page.read_text(encoding="utf-8"), re.M)


def test_the_ten_lines_of_the_readme_run_as_they_stand() -> None:
    names = run_block(README)
    result, flight = names["result"], names["plan"].flight_plan
    assert result.ok and str(result.status) == "OK" and result.reason == ""
    np.testing.assert_allclose(result.q, names["q"], atol=1e-9)
    np.testing.assert_allclose(flight.length, 0.02, rtol=1e-9)
    assert flight.ok and flight.position_deviation < 1e-6


def test_the_kinematics_of_the_first_page_run_as_they_stand() -> None:
    names = run_block(WITHOUT_ROS)
    result, batch = names["result"], names["batch"]
    assert result.ok and str(result.status) == "OK" and result.reason == ""
    np.testing.assert_allclose(result.q, names["q"], atol=1e-9)
    assert names["T"].shape == (4, 4) and names["J"].shape == (6, 6)
    assert batch.ok.all() and batch.q.shape == (3, 6)


def test_what_the_pages_say_of_a_pose_outside_the_limits_is_so() -> None:
    psm = load_arm("PSM1")
    found = psm.inverse(psm.forward([0.0, 0.0, 0.3, 0.0, 0.0, 0.0]))
    assert not found.ok
    for page in (README, WITHOUT_ROS):
        said = " ".join(page.read_text(encoding="utf-8").split())
        assert f'`status` prints {found.status}, and `reason` says "{found.reason}"' in said


def test_the_safety_list_stands_in_the_readme_and_on_its_page_word_for_word() -> None:
    listed = read_checklist(README)
    assert len(listed) == 7
    assert read_checklist(FIRST_MOTION) == listed
