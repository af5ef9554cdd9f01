"""The benchmark of the simulator runs and reports; its times are nobody's pass or fail."""

from __future__ import annotations

import json

import pytest

from bench.simulator import __main__ as bench


def test_simulator_benchmark_reports_cost_and_streams(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bench.OUTPUT = tmp_path_factory.mktemp("bench")
    assert bench.main(["--seconds", "2", "--only", "servo"]) == 0
    (row,) = json.loads((bench.OUTPUT / "figures.json").read_text())
    assert row["simulator"]["ticks"] > 0 and row["bare"]["ticks"] > 0
    assert row["simulator"]["cpu_percent"] > 0.0 and len(row["rates_hz"]) == 16
    for stream in row["streams"]:
        assert stream["last_applied"] == stream["sent"] > 100 and stream["in_order"]
        assert abs(stream["error_of_last_rad"]) < 1e-9
    assert "| PSM1, all topics, servo | 200 |" in capsys.readouterr().out
