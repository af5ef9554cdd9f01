from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.kinematics.chain import SerialChain
from dvrk_kinematics.models.dh_rows import dh_constants
from dvrk_kinematics.models.schema import Convention, DhRow, JointKind

GOLDEN = [
    ("golden_psm_lnd400006.csv", "PSM", "400006"),
    ("golden_psm_prograsp400093.csv", "PSM", "400093"),
    ("golden_ecm.csv", "ECM", None),
]


@pytest.mark.parametrize(("file", "name", "instrument"), GOLDEN)
def test_forward_equals_the_golden_tables(
    data_dir: Path, file: str, name: str, instrument: str | None
) -> None:
    arm = load_arm(name, instrument=instrument)
    rows = np.loadtxt(data_dir / file, delimiter=",", skiprows=1)
    q, T = rows[:, : len(arm.joint_names)], rows[:, -16:].reshape(-1, 4, 4)
    assert len(rows) >= 150
    assert np.abs(arm.forward(q) - T).max() < 1e-12
    chain = SerialChain(arm.model)
    for q_row, T_row in zip(q, T, strict=True):
        assert np.abs(arm.forward(q_row) - T_row).max() < 1e-12
        assert np.abs(chain.forward(q_row) - T_row).max() < 1e-12


@pytest.mark.parametrize(("file", "name", "instrument"), GOLDEN[:2])
def test_the_tip_offset_is_the_difference_of_the_golden_columns(
    data_dir: Path, file: str, name: str, instrument: str
) -> None:
    arm = load_arm(name, instrument=instrument)
    rows = np.loadtxt(data_dir / file, delimiter=",", skiprows=1)
    bare, tip = rows[:, 6:22].reshape(-1, 4, 4), rows[:, 22:].reshape(-1, 4, 4)
    assert np.abs(bare @ arm.model.T_tip_offset - tip).max() < 1e-12


def test_a_batch_equals_single_calls(every_arm: Arm, rng: np.random.Generator) -> None:
    q = every_arm.random_q(rng, 20)
    T = every_arm.forward(q)
    assert T.shape == (20, 4, 4)
    for q_row, T_row in zip(q, T, strict=True):
        assert np.abs(every_arm.forward(q_row) - T_row).max() < 1e-14
        assert np.abs(every_arm.forward(q_row.tolist()) - T_row).max() < 1e-14
    se3.check(T, tolerance=1e-13)
    assert every_arm.forward(np.empty((0, q.shape[1]))).shape == (0, 4, 4)


def test_a_batch_longer_than_a_chunk_loses_no_row(rng: np.random.Generator) -> None:
    arm = load_arm("PSM")
    q = arm.random_q(rng, 20_000)
    T = arm.forward(q)
    for i in (0, 8191, 8192, 16_384, 19_999):
        assert np.abs(arm.forward(q[i]) - T[i]).max() < 1e-14


@pytest.mark.parametrize("convention", list(Convention))
def test_rows_are_the_matrices_of_their_convention(
    convention: Convention, rng: np.random.Generator
) -> None:
    alpha, a, d, theta, q = rng.uniform(-2, 2, 5)
    for kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        row = DhRow(alpha, a, d, theta, "j", kind)
        turn, slide = (theta + q, d) if kind is JointKind.REVOLUTE else (theta, d + q)
        X = se3.make(so3.rot_x(alpha), [a, 0, 0])
        Z = se3.make(so3.rot_z(turn), [0, 0, slide])
        T_pre, T_post = dh_constants(row, convention)
        moved = kind is JointKind.REVOLUTE
        J = se3.make(so3.rot_z(q), np.zeros(3)) if moved else se3.translation([0, 0, q])
        expected = X @ Z if convention is Convention.MODIFIED else Z @ X
        assert np.allclose(T_pre @ J @ T_post, expected, atol=1e-15)


# Simulated positions of the controller's own file and the remote centres that follow from them,
# in mm in the cart's frame; computed once from that file with numpy.
SUJ = {
    "SUJ_ECM": ([0.6647, 0.5782, -1.2662, 3.7818], (60.1, 1242.1, 994.2)),
    "SUJ_PSM1": ([0.0007, -0.5892, -0.8590, -0.6241, -0.2479, -0.4422], (-28.8, 1219.8, 959.1)),
    "SUJ_PSM2": ([0.0628, 0.0913, 1.9073, -0.1297, 0.4351, 0.0353], (184.3, 1187.7, 974.2)),
    "SUJ_PSM3": ([-0.0261, -1.5892, 1.3076, 0.6994, 0.1361, 0.3359], (212.8, 1225.4, 911.5)),
}


@pytest.mark.parametrize("name", SUJ)
def test_setup_joints_put_the_remote_centre_where_the_controller_does(name: str) -> None:
    q, rcm_mm = SUJ[name]
    arm = load_arm(name)
    assert not arm.limits.violations(q)
    assert np.abs(arm.forward(q)[:3, 3] * 1e3 - rcm_mm).max() < 0.1


def test_the_mtm_at_zero_is_where_its_table_puts_it() -> None:
    T = load_arm("MTMR").forward(np.zeros(7))
    # Upper arm down, forearm out, the platform above its end: lengths of the table.
    assert np.allclose(T[:3, 3], [0.0, -0.3645, -0.2794 + 0.1506], atol=1e-15)
