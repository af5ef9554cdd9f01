"""The benchmark of the loop runs and reports; its times are nobody's pass or fail."""

from __future__ import annotations

import json

import pytest

from bench.loop import __main__ as bench


def test_loop_benchmark_reports_every_phase(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bench.OUTPUT = tmp_path_factory.mktemp("bench")
    assert bench.main(["--seconds", "1", "--only", "1 arm, polled"]) == 0
    rows = json.loads((bench.OUTPUT / "figures.json").read_text())
    assert [row["phase"] for row in rows] == ["steady", "goals of 2000", "goals of 20000"]
    for row in rows:
        assert row["bridge"]["ticks"] > 0 and row["bare"]["ticks"] > 0
        assert row["bridge"]["p50_ms"] > 0.0 and row["bridge"]["cpu_percent"] > 0.0
    assert "| 1 arm, polled | steady |" in capsys.readouterr().out
