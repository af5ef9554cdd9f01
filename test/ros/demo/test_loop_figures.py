"""The rate of a loop, from what it said before and after."""

from __future__ import annotations

import pytest

from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine
from dvrk_kinematics.ros.demo.loop_figures import compare_lines


def _line(stamp_s: float, ticks: int, missed: int) -> DiagnosticLine:
    values = {"rate_hz": "200", "ticks": str(ticks), "missed_ticks": str(missed)}
    periods = {"period_p50_s": "0.005", "period_p99_s": "0.006", "period_max_s": "0.02"}
    return DiagnosticLine(0.0, round(stamp_s * 1e9), values | periods)


def test_ticks_are_counted_between_the_lines_and_not_since_the_start() -> None:
    figures = compare_lines(_line(100.0, 5000, 70), _line(110.0, 6900, 170))
    assert figures is not None
    assert (figures.ticks, figures.missed, figures.aimed_hz) == (1900, 100, 200.0)
    assert figures.measured_hz == pytest.approx(190.0)
    assert (figures.p50_s, figures.p99_s, figures.longest_s) == (0.005, 0.006, 0.02)


def test_one_line_alone_tells_nothing() -> None:
    line = _line(100.0, 5000, 70)
    assert compare_lines(None, line) is None
    assert compare_lines(line, None) is None
    assert compare_lines(line, line) is None
