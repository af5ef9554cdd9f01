from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import load_arm

TABLE = Path(__file__).resolve().parents[2] / "data" / "dvrk_tools.csv"
with TABLE.open(encoding="utf-8") as stream:
    TOOLS = {
        row.pop("name"): {k: float(v) for k, v in row.items()} for row in csv.DictReader(stream)
    }


def _generation(name: str) -> str:
    return "Classic" if "_400" in name else "Si"


def _table_forward(tool: dict[str, float], d3: float, q: np.ndarray) -> np.ndarray:
    """The chain of the controller's own files, multiplied out by hand."""
    h = math.pi / 2
    rows = [
        (h, 0.0, 0.0, q[0] + h),
        (-h, 0.0, 0.0, q[1] - h),
        (h, 0.0, q[2] - d3, 0.0),
        (0.0, 0.0, tool["roll_d"], q[3]),
        (-h, 0.0, 0.0, q[4] - h),
        (-h, tool["wrist_yaw_a"], 0.0, q[5] - h),
    ]
    T = np.eye(4)
    for alpha, a, d, theta in rows:
        ca, sa, ct, st = math.cos(alpha), math.sin(alpha), math.cos(theta), math.sin(theta)
        T = T @ [
            [ct, -st, 0.0, a],
            [st * ca, ct * ca, -sa, -d * sa],
            [st * sa, ct * sa, ca, d * ca],
            [0.0, 0.0, 0.0, 1.0],
        ]
    T[:3, :3] = T[:3, :3] @ [[tool[f"r{i}{j}"] for j in range(3)] for i in range(3)]
    return T


def test_the_table_is_complete() -> None:
    assert len(TOOLS) == 51


@pytest.mark.parametrize("name", TOOLS)
def test_forward_kinematics_and_limits_are_the_controllers(
    name: str, rng: np.random.Generator
) -> None:
    tool, generation = TOOLS[name], _generation(name)
    arm = load_arm("PSM", instrument=name, generation=generation)
    roll, pitch, yaw = tool["roll_max"], tool["wrist_pitch_max"], tool["wrist_yaw_max"]
    assert arm.limits.upper[3:].tolist() == [roll, pitch, yaw]
    assert arm.limits.lower[3:].tolist() == [-roll, -pitch, -yaw]
    jaw = arm.jaw
    assert jaw is not None
    assert (jaw.lower, jaw.upper, jaw.effort) == (
        tool["jaw_min"],
        tool["jaw_max"],
        tool["jaw_effort"],
    )
    q = arm.random_q(rng)
    expected = _table_forward(tool, 0.4318 if generation == "Classic" else 0.4826, q)
    assert np.abs(arm.forward(q) - expected).max() < 1e-14


def test_the_snake_and_the_caudier_have_their_own_wrists() -> None:
    snake = load_arm("PSM", instrument="400117", solver="numeric")
    assert len(snake.joint_names) == 8
    assert snake.limits.upper[4:].tolist() == [0.3926991] * 4
    # Straight, the tip is 3 discs of 3.4 mm and 17.1 mm of jaw below the wrist.
    T = snake.forward(np.zeros(8))
    assert T[2, 3] == pytest.approx(0.4318 - 0.4024 - 3 * 0.0034 - 0.0171)
    caudier = load_arm("PSM", instrument="caudier")
    driver = load_arm("PSM", instrument="400006")
    assert np.array_equal(caudier.forward(np.full(6, 0.1)), driver.forward(np.full(6, 0.1)))
    assert caudier.limits.upper[4:].tolist() == [1.5707, 1.5707]
