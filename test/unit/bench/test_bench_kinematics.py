"""The kinematics benchmark runs from end to end, also where nothing else is installed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.kinematics.__main__ import main
from bench.kinematics.bare import bare_forward, bare_inverse, bare_inverse_batch
from dvrk_kinematics import load_arm


def test_a_small_run_prints_tables_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "deep" / "kinematics.json"
    sizes = ["--poses", "5", "--batch", "40", "--memory", "50", "--passes", "1"]
    assert main([*sizes, "--markdown", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "| inverse, near seed" in printed
    written = json.loads(path.read_text())
    ours = {row["task"]: row for row in written["rows"] if row["system"] == "dvrk_kinematics"}
    assert ours["inverse, far seed"]["inside"] == 5
    assert ours["inverse of 40 poses"]["right"] == 40
    assert written["memory"]["solved"] == 50
    assert {figure["figure"] for figure in written["figures"]} >= {"inverse / bare inverse"}


def test_the_bare_closed_form_gives_what_the_full_call_gives() -> None:
    arm = load_arm("PSM", instrument="400006")
    q = arm.random_q(np.random.default_rng(1), 30)
    T = arm.forward(q)
    T6 = T @ np.linalg.inv(arm.model.T_tip_offset)
    for expected, pose in zip(q.tolist(), T6.tolist(), strict=True):
        solved = bare_inverse(pose, expected, 0.0091, 0.4318 - 0.4162)
        np.testing.assert_allclose(solved, expected, atol=1e-9)
        forward = np.array(bare_forward(expected, 0.0091, 0.4318 - 0.4162)).reshape(3, 4)
        np.testing.assert_allclose(forward, pose[:3], atol=1e-12)
    np.testing.assert_allclose(bare_inverse_batch(T6, q, 0.0091, 0.0156), q, atol=1e-9)
