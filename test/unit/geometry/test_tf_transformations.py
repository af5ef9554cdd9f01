"""Where the ROS package tf_transformations is installed, it has to agree."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.geometry import so3

tf = pytest.importorskip("tf_transformations")


def test_quaternions_and_matrices_agree(rng: np.random.Generator) -> None:
    for w in rng.uniform(-2, 2, (50, 3)):
        R = so3.exp(w)
        T = np.eye(4)
        T[:3, :3] = R
        q = so3.to_quaternion(R)
        theirs = tf.quaternion_from_matrix(T)
        assert abs(abs(np.dot(q, theirs)) - 1.0) < 1e-12
        assert np.allclose(tf.quaternion_matrix(q)[:3, :3], R, atol=1e-12)
