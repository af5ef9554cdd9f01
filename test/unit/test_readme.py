"""What the README shows runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics import load_arm

README = Path(__file__).resolve().parents[2] / "README.md"


def test_kinematics_in_five_lines_runs_as_it_stands() -> None:
    text = README.read_text(encoding="utf-8")
    (block,) = re.findall(
        r"^## Kinematics in five lines\n+```python\n(.*?)^```", text, re.M | re.S
    )
    names: dict[str, Any] = {}
    exec(compile(block, str(README), "exec"), names)
    result, batch = names["result"], names["batch"]
    assert result.ok and str(result.status) == "OK" and result.reason == ""
    np.testing.assert_allclose(result.q, names["q"], atol=1e-9)
    assert names["T"].shape == (4, 4) and names["J"].shape == (6, 6)
    assert batch.ok.all() and batch.q.shape == (3, 6)


def test_what_the_readme_says_of_a_pose_outside_the_limits_is_so() -> None:
    psm = load_arm("PSM1")
    found = psm.inverse(psm.forward([0.0, 0.0, 0.3, 0.0, 0.0, 0.0]))
    said = " ".join(README.read_text(encoding="utf-8").split())
    assert not found.ok
    assert f'`status` prints {found.status}, and `reason` says "{found.reason}"' in said
