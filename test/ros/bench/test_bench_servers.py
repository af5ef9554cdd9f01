"""The benchmark of the servers runs and reports; its times are nobody's pass or fail."""

from __future__ import annotations

import json
import math

import pytest

from bench.servers import __main__ as bench
from bench.servers.setpoints import measure


def test_servers_benchmark_reports_answers_and_a_traced_figure(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bench.OUTPUT = tmp_path_factory.mktemp("bench")
    # A small figure, and quickly: what takes its time is turning at the corners.
    arguments = "--calls 20 --batches 2 --scale 0.02 --presets d --turning 4 --rest 1"
    assert bench.main(arguments.split()) == 0
    figures = json.loads((bench.OUTPUT / "figures.json").read_text())
    trips = figures["round_trips"]
    assert 0.0 < trips["empty_p10"] <= trips["empty_p50"]
    assert 0.0 < trips["one_p10"] <= trips["one_p50"] and trips["batch_ok"] == bench.BATCH
    assert figures["place_and_plan_s"] > 0.0
    assert set(figures["rest_cpu_percent"]) == {"kinematics_server", "trajectory_server"}
    (traced,) = figures["traces"]
    assert traced["success"], traced["message"]
    assert traced["position_um"] <= 2.0 and traced["rotation_urad"] <= 2.0
    # How many ticks are missed is the machine's affair; that a motion takes no longer than they
    # cost is ours.
    assert traced["tries"] >= 1 and traced["missed_ticks"] >= 0
    assert traced["took_s"] > 0.0 and traced["is_in_time"], traced
    assert "| (d) |" in capsys.readouterr().out


def test_a_tick_that_is_missed_costs_what_cannot_be_made_up_for() -> None:
    # 100 ticks of 5 ms; the 40th comes a tick late, the 60th 50 ms, and one was lost to us.
    sent = [(5_000_000 * k + 50_000_000 * (k >= 60), k) for k in range(101) if k not in (40, 80)]
    sent = [(ns, k - (k > 40)) for ns, k in sent]
    taken = measure(sent)
    assert taken.took_s == pytest.approx(0.55) and taken.missed_ticks == 11
    assert taken.lost_s == pytest.approx(0.045)
    assert math.isnan(measure([]).took_s)
