"""The benchmark of the servers runs and reports; its times are nobody's pass or fail."""

from __future__ import annotations

import json

import pytest

from bench.servers import __main__ as bench


def test_servers_benchmark_reports_answers_and_a_traced_figure(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bench.OUTPUT = tmp_path_factory.mktemp("bench")
    # A small figure, and quickly: what takes its time is turning at the corners.
    arguments = ["--calls", "20", "--batches", "2", "--scale", "0.02", "--presets", "d"]
    assert bench.main(arguments) == 0
    figures = json.loads((bench.OUTPUT / "figures.json").read_text())
    trips = figures["round_trips"]
    assert 0.0 < trips["empty_p10"] <= trips["empty_p50"]
    assert 0.0 < trips["one_p10"] <= trips["one_p50"] and trips["batch_ok"] == bench.BATCH
    assert figures["place_and_plan_s"] > 0.0
    (traced,) = figures["traces"]
    assert traced["success"], traced["message"]
    assert traced["position_um"] <= 2.0 and traced["rotation_urad"] <= 2.0
    assert "| (d) |" in capsys.readouterr().out
