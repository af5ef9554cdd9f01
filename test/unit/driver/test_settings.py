"""Settings that would make an arm unsafe cannot be made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import OWN_CODES, STOPS, Finding, Reason, ResultCode
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.motion.limits import MotionLimits, make_motion_limits

BAD_GUARD = [
    {"pid_tolerance": np.zeros(6)},
    {"pid_tolerance": np.ones(5)},
    {"max_age_s": 0.0},
    {"max_age_s": float("nan")},
    {"ready_s": -1.0},
    {"step_fraction": 1.0},
    {"tracking_fraction": 1.5},
    {"echo_s": float("inf")},
]
BAD_PLAYER = [
    {"start_tolerance": np.full(6, -1.0)},
    {"start_tolerance": np.full(6, np.nan)},
    {"period_s": 0.0},
    {"max_gap_s": float("nan")},
    {"max_points": 0},
    {"stopped_velocity": np.full(6, -0.1)},
    {"stopped_velocity": np.full(6, np.nan)},
    {"stopped_velocity": np.full(5, 0.1)},
]


@pytest.mark.parametrize("change", BAD_GUARD, ids=str)
def test_bad_guard_settings(rig, change) -> None:
    with pytest.raises(InvalidInput, match=next(iter(change))):
        replace(rig.guard_settings, **change)


@pytest.mark.parametrize("change", BAD_PLAYER, ids=str)
def test_bad_player_settings(rig, change) -> None:
    with pytest.raises(InvalidInput, match=next(iter(change))):
        replace(rig.settings, **change)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1.1, float("nan")])
def test_limits_can_only_be_lowered(scale) -> None:
    with pytest.raises(InvalidInput, match="velocity_scale"):
        make_motion_limits(load_arm("ECM"), velocity_scale=scale)


def test_arms_that_are_moved_by_hand_have_no_limits_to_play_in() -> None:
    with pytest.raises(InvalidInput, match="positive"):
        make_motion_limits(load_arm("SUJ_PSM1"))


def test_limits_need_one_value_a_joint() -> None:
    arm = load_arm("ECM")
    with pytest.raises(InvalidInput, match="shape"):
        MotionLimits(arm.limits, np.ones(3), np.ones(4))


def test_every_reason_has_a_code_and_a_text() -> None:
    texts = {str(Finding(reason)) for reason in Reason}
    assert len(texts) == len(Reason)
    for reason in Reason:
        code = Finding(reason).code
        assert (code is ResultCode.SUCCESSFUL) == (reason in (Reason.REACHED, Reason.CANCELLED))
        if reason in STOPS and reason not in OWN_CODES:
            assert code is ResultCode.PATH_TOLERANCE_VIOLATED
