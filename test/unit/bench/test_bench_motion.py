"""The motion benchmark runs from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.motion.__main__ import main


def test_a_small_figure_is_measured_at_all_four_speeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "deep" / "motion.json"
    assert main(["--scale", "0.05", "--passes", "1", "--json", str(path)]) == 0
    assert "| 0.005, 0.01" in capsys.readouterr().out
    rows = json.loads(path.read_text())["rows"]
    assert [row["speed"] for row in rows] == [0.005, 0.0075, 0.01, 0.02]
    for row in rows:
        assert row["samples"] > 200.0 * row["duration_s"]
        assert row["position_deviation_um"] < 1.0 and row["rotation_deviation_urad"] < 1.0
