"""From the parameters of a bridge to tolerances of its joints: a slide has a tenth."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.bridge.driver_settings import make_player_settings
from dvrk_kinematics.ros.bridge.settings import BridgeSettings


@pytest.mark.parametrize(("model", "slides"), [("PSM", [2]), ("ECM", [2]), ("RVM1", [])])
def test_an_insertion_stands_still_below_1_mm_s(model: str, slides: list[int]) -> None:
    """It was 10 mm/s, so that one that moved at 9 mm/s had arrived."""
    arm = load_arm(model)
    settings = make_player_settings(arm, BridgeSettings())
    unit = np.ones(len(arm.joint_names))
    unit[slides] = 0.1
    np.testing.assert_allclose(settings.stopped_velocity, 0.01 * unit)
    np.testing.assert_allclose(settings.start_tolerance, 0.01 * unit)
    np.testing.assert_allclose(settings.tolerances.goal.position, 0.01 * unit)
