from __future__ import annotations

import numpy as np
import pytest
from screws import ScrewChain

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.kinematics.chain import SerialChain


def test_screws_read_off_any_arm_give_its_poses(every_arm: Arm, rng: np.random.Generator) -> None:
    screws = ScrewChain.of_chain(SerialChain(every_arm.model))
    q = every_arm.random_q(rng, 100)
    assert np.abs(screws.forward(q) - every_arm.forward(q)).max() < 1e-12


@pytest.mark.parametrize(("instrument", "length"), [("400006", 0.0091), ("400093", 0.0107)])
def test_screws_written_down_from_the_drawing_give_the_psm(
    instrument: str, length: float, rng: np.random.Generator
) -> None:
    arm = load_arm("PSM", instrument=instrument)
    screws = ScrewChain.of_psm(0.4162 - 0.4318, length)
    q = arm.random_q(rng, 200)
    assert np.abs(screws.forward(q) - arm.forward(q)).max() < 1e-12


def test_the_published_table_of_screws(rng: np.random.Generator) -> None:
    L, h = 0.3, 0.01
    table = [  # v, w of yaw, pitch, insertion, roll, wrist pitch, wrist yaw
        [0, 0, 0, 0, -1, 0],
        [0, 0, 0, -1, 0, 0],
        [0, 0, -1, 0, 0, 0],
        [0, 0, 0, 0, 0, -1],
        [0, L, 0, -1, 0, 0],
        [-(h + L), 0, 0, 0, -1, 0],
    ]
    assert np.allclose(ScrewChain.of_psm(L, h).screws, table, atol=1e-16)


def test_yaw_sweeps_of_the_published_experiment() -> None:
    """Joint 1 from -80 to 80 degrees in steps of 5: screws and chain agree at every step."""
    arm = load_arm("PSM")
    screws = ScrewChain.of_psm(0.4162 - 0.4318, 0.0091)
    q = np.zeros((33, 6))
    q[:, 0] = np.radians(np.arange(-80, 81, 5))
    q[:, 2] = 0.1
    assert np.abs(screws.forward(q) - arm.forward(q)).max() < 1e-15
