"""The benchmark of the bridge runs and reports; its times are nobody's pass or fail."""

from __future__ import annotations

import json

import pytest

from bench.bridge import __main__ as bench


def test_bridge_benchmark_reports_path_lag_and_cost(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bench.OUTPUT = tmp_path_factory.mktemp("bench")
    assert bench.main(["--seconds", "4", "--slow-downs", "1"]) == 0
    report = json.loads((bench.OUTPUT / "figures.json").read_text())
    found = {figure["name"].partition(",")[0]: figure for figure in report["figures"]}
    off = [one for one in report["figures"] if one["name"].startswith("off the exact path")]
    # What was played is exact on a busy machine too; how much of it that was is told beside it.
    assert 0.0 <= found["figure not played"]["value"] < 100.0
    assert found["tries that the guard stopped"]["value"] == len(report["goal"]["stops"])
    assert len(off) == 2 and all(f["value"] <= f["limit"] for f in off)
    assert found["latency p50"]["value"] > 0.0
    assert found["CPU of the bridge"]["value"] > 0.0
    assert set(report["ticks"]) == {"bridge", "simulator", "bare"}
    assert "| bridge" in capsys.readouterr().out
