"""Poses in plain floats are those of arrays."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.geometry.floats import pose_from_numbers, pose_numbers, times_rows


def random_poses(rng: np.random.Generator, count: int) -> Array:
    turns = rng.uniform(-np.pi, np.pi, (count, 3)) / np.sqrt(3.0)
    return se3.make(so3.exp(turns), rng.normal(size=(count, 3)))


def test_a_product_is_that_of_matrices(rng: np.random.Generator) -> None:
    for A, B in zip(random_poses(rng, 50), random_poses(rng, 50), strict=True):
        np.testing.assert_allclose(times_rows(A.tolist(), B.tolist())[:3], (A @ B)[:3], atol=1e-14)


def test_numbers_and_rows_are_inverse_to_each_other(rng: np.random.Generator) -> None:
    for T in random_poses(rng, 200):
        numbers = pose_numbers(T.tolist())
        assert numbers[6] >= 0.0
        np.testing.assert_allclose(numbers[3:], so3.to_quaternion(T[:3, :3]), atol=1e-14)
        np.testing.assert_allclose(pose_from_numbers(numbers), T, atol=1e-14)


def test_half_turns_keep_their_digits() -> None:
    for axis in np.eye(3):
        T = se3.make(so3.exp(np.pi * axis), np.zeros(3))
        numbers = pose_numbers(T.tolist())
        np.testing.assert_allclose(pose_from_numbers(numbers), T, atol=1e-15)
