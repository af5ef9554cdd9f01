"""Compares paths with differences of themselves."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.paths.path import Path


def random_pose(rng: np.random.Generator) -> np.ndarray:
    """A pose within 0.2 m and 3 rad of the base."""
    turn = rng.normal(size=3)
    turn *= rng.uniform(0.0, 3.0) / np.linalg.norm(turn)
    return se3.make(so3.exp(turn), rng.uniform(-0.2, 0.2, 3))


def check_path(path: Path, h: float = 1e-5, tolerance: float = 1e-6) -> None:
    """Compare twist and bend with differences of what they are the derivatives of."""
    u = np.linspace(2.0 * h, 1.0 - 2.0 * h, 23)
    far = np.abs(u[:, None] - np.append(path.breaks, -1.0)).min(axis=1) > 3.0 * h
    u = u[far]
    ahead, behind = path.pose(u + h), path.pose(u - h)
    assert np.abs(so3.deviation(ahead[:, :3, :3])).max() < 1e-12
    linear = (ahead[:, :3, 3] - behind[:, :3, 3]) / (2.0 * h)
    angular = so3.log(ahead[:, :3, :3] @ np.swapaxes(behind[:, :3, :3], 1, 2)) / (2.0 * h)
    np.testing.assert_allclose(path.twist(u), np.hstack([linear, angular]), atol=tolerance)
    bend = (path.twist(u + h) - path.twist(u - h)) / (2.0 * h)
    np.testing.assert_allclose(path.bend(u), bend, atol=1e-4)
    fine = np.linspace(0.0, 1.0, 2001)
    for part, peak in zip((slice(0, 3), slice(3, 6)), path.peak_bend, strict=True):
        lengths = np.linalg.norm(path.bend(fine)[:, part], axis=1)
        assert lengths.max() <= peak * (1.0 + 1e-9) + 1e-15
    for part, peak in zip((slice(0, 3), slice(3, 6)), path.peak_twist, strict=True):
        lengths = np.linalg.norm(path.twist(fine)[:, part], axis=1)
        np.testing.assert_allclose(lengths.max(), peak, rtol=1e-9, atol=1e-15)


def measure(path: Path, count: int = 20_001) -> float:
    """The length of many short chords."""
    p = path.pose(np.linspace(0.0, 1.0, count))[:, :3, 3]
    return float(np.linalg.norm(np.diff(p, axis=0), axis=1).sum())
