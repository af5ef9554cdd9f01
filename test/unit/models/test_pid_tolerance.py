"""PID tolerances of joints, against what the running dVRK accepted and faulted on."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.models.pid_tolerance import joint_pid_tolerance
from dvrk_kinematics.simulation.control import CONTROLLERS

# Steps of one joint that the recorded software went along with, and those at which it faulted.
RECORDED = {
    "yaw": (0.45, 0.55),
    "insertion": (0.045, 0.055),
    "roll": (0.9, 1.0),
    "wrist_pitch": (0.4, 0.7),
    "wrist_yaw": (0.4, None),
}


def test_tolerances_lie_between_the_steps_that_passed_and_those_that_faulted() -> None:
    psm = load_arm("PSM", "400006")
    tolerance = dict(zip(psm.joint_names, joint_pid_tolerance(psm.model), strict=True))
    for joint, (passed, faulted) in RECORDED.items():
        assert passed < tolerance[joint], joint
        assert faulted is None or tolerance[joint] < faulted, joint


@pytest.mark.parametrize("name", ["PSM", "ECM"])
def test_the_simulated_controller_has_the_same_numbers(name: str) -> None:
    model = load_arm(name).model
    own = len(model.joints) - (len(model.instrument.joints) if model.instrument else 0)
    simulated = CONTROLLERS[name].tolerance
    assert simulated[:own] == tuple(joint.pid_tolerance for joint in model.joints[:own])
    assert set(simulated[own:]) <= {model.disc_tolerance}


@pytest.mark.parametrize("instrument", ["400117", "CAUDIER", "400093", "400049"])
def test_every_instrument_has_finite_tolerances(instrument: str) -> None:
    model = load_arm("PSM", instrument).model
    tolerance = joint_pid_tolerance(model)
    assert np.isfinite(tolerance).all() and (tolerance > 0.0).all()


def test_a_snake_gives_each_of_two_joints_half() -> None:
    snake = load_arm("PSM", "400117").model
    tolerance = dict(zip(snake.joint_names, joint_pid_tolerance(snake), strict=True))
    assert tolerance["wrist_pitch1"] == tolerance["wrist_pitch2"]
    disc = 1.0 / np.abs(np.linalg.inv(snake.instrument.coupling)).max(axis=0)
    assert tolerance["wrist_pitch1"] == pytest.approx(0.5 * 0.6 * disc[1])


def test_arms_that_never_fault_have_none() -> None:
    assert np.isinf(joint_pid_tolerance(load_arm("MTML").model)).all()


def test_a_tolerance_that_is_not_positive_is_refused(tmp_path) -> None:
    from dvrk_kinematics.models.model_files import find_models_dir

    for file in find_models_dir().glob("*.yaml"):
        text = file.read_text().replace("pid_tolerance: 0.03", "pid_tolerance: 0.0")
        (tmp_path / file.name).write_text(text)
    with pytest.raises(ModelError, match="pid_tolerance"):
        load_arm("ECM", folder=tmp_path)
