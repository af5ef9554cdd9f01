"""The benchmark of the first motion runs; how long it took is not judged here."""

from __future__ import annotations

import sys

import pytest

from bench.system.__main__ import render_first_motion
from bench.system.first_motion import measure_first_motion

pytestmark = pytest.mark.ros


def test_the_first_motion_of_the_demo_is_seen() -> None:
    seconds = measure_first_motion((sys.executable, "-m", "dvrk_kinematics.ros.demo.demo"))
    assert 0.0 < seconds < 120.0
    assert f": {seconds:.1f} s after the command" in render_first_motion([seconds])
