"""The product of exponentials: forward kinematics by screws, a second route beside DH rows.

T(q) = exp([S_1] q_1) ... exp([S_n] q_n) M, with the screws S_i in the base frame at q = 0 and M
the tip's pose there. A screw is a twist (v, w); one of pitch 0 is a revolute axis, one without
rotation a prismatic one.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, frozen
from dvrk_kinematics.kinematics.chain import SerialChain

__all__ = ["ScrewChain", "bracket", "prismatic", "revolute", "screw_exp"]


def revolute(axis: ArrayLike, point: ArrayLike) -> Array:
    """The unit twist of turning about an axis through a point (m); (3,), (3,) -> (6,)."""
    w = np.asarray(axis, dtype=np.float64)
    w = w / np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate([np.cross(np.asarray(point, dtype=np.float64), w), w], axis=-1)


def prismatic(axis: ArrayLike) -> Array:
    """The unit twist of sliding along an axis; (3,) -> (6,)."""
    v = np.asarray(axis, dtype=np.float64)
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate([v, np.zeros_like(v)], axis=-1)


def screw_exp(screw: Array, amount: ArrayLike) -> Array:
    """The motion by an amount (rad or m) along a unit screw; (6,), () -> (4, 4)."""
    return se3.exp(screw * np.asarray(amount, dtype=np.float64)[..., None])


def bracket(a: Array, b: Array) -> Array:
    """The Lie bracket [a, b] of two twists: how b changes when carried along a; -> (6,)."""
    W_a, V_a = so3.hat(a[..., 3:]), so3.hat(a[..., :3])
    v = (W_a @ b[..., :3, None] + V_a @ b[..., 3:, None])[..., 0]
    w = (W_a @ b[..., 3:, None])[..., 0]
    return np.concatenate([v, w], axis=-1)


class ScrewChain:
    """An arm as screws.

    Args:
        axes: Unit screws (v, w) of the joints in the base frame at q = 0, shape (n, 6).
        M: Pose of the tip at q = 0, shape (4, 4).
    """

    def __init__(self, axes: ArrayLike, M: ArrayLike) -> None:
        self.screws = frozen(axes)
        self.M = frozen(M)

    @classmethod
    def of_chain(cls, chain: SerialChain) -> ScrewChain:
        """Reads the screws off a chain at q = 0."""
        z, p, M = chain.axes(np.zeros(len(chain)))
        turning = chain.revolute[:, None]
        return cls(np.where(turning, revolute(z, p), prismatic(z)), M)

    @classmethod
    def of_psm(cls, wrist: float, length: float) -> ScrewChain:
        """The screws of a PSM with a standard wrist, written down from its drawing.

        They are those of Eubel, Asghari Adib and Alam, table I, whose base frame is the
        controller's; insertion stands before roll, as in the controller.

        Args:
            wrist: How far below the remote centre the wrist is at q = 0 (m), L in their table.
            length: From wrist pitch to wrist yaw (m), h in their table.
        """
        down, left, front = [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]
        yaw_point = [0.0, 0.0, -(wrist + length)]
        axes = [
            revolute(front, [0.0, 0.0, 0.0]),
            revolute(left, [0.0, 0.0, 0.0]),
            prismatic(down),
            revolute(down, [0.0, 0.0, 0.0]),
            revolute(left, [0.0, 0.0, -wrist]),
            revolute(front, yaw_point),
        ]
        M = np.eye(4)
        # The tip's axes at q = 0: z down along the shaft, x and y those of the base exchanged.
        M[:3, :3] = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
        M[:3, 3] = yaw_point
        return cls(np.array(axes), M)

    def forward(self, q: Array) -> Array:
        """The tip's pose, base to tip; (..., n) -> (..., 4, 4)."""
        T = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
        for i, screw in enumerate(self.screws):
            T = T @ screw_exp(screw, q[..., i])
        result: Array = T @ self.M
        return result
