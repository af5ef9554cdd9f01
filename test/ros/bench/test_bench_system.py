"""The benchmark of whole systems runs and fills its table; what it measures is not judged here."""

from __future__ import annotations

import pytest

from bench.system import __main__ as bench

pytestmark = pytest.mark.ros


def test_one_arm_is_measured(tmp_path) -> None:
    bench.OUTPUT = tmp_path
    row = bench.measure(bench.CASES[0], seconds=2.0)
    assert 0.0 < row.worst <= 1.0 and 0.0 < row.bare <= 1.0
    assert set(row.cpu_percent) == {
        "arm_simulator",
        "bridge_PSM1",
        "kinematics_server",
        "trajectory_server",
    }
    assert all(10.0 < memory < 1000.0 for memory in row.memory_mb.values())
    assert "PSM1 at 200 Hz" in bench.render([row])
