"""Position first: the position exact, the orientation within 1e-3 rad of a dense search."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.kinematics.result import IkStatus

PSM = load_arm("PSM", instrument="400006")
QUARTER = np.pi / 2


def tilted(arm: Arm, q: np.ndarray, angle: float, rng: np.random.Generator) -> np.ndarray:
    """Poses of q, each turned by the angle about an axis of its own."""
    T = arm.forward(q)
    axis = rng.normal(size=(len(q), 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    K = np.zeros((len(q), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -axis[:, 2], axis[:, 1], -axis[:, 0]
    K -= np.swapaxes(K, 1, 2)
    R = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)
    T[:, :3, :3] = T[:, :3, :3] @ R
    return T


def spin(angle: np.ndarray) -> np.ndarray:
    R = np.zeros((len(angle), 3, 3))
    R[:, 0, 0] = R[:, 1, 1] = np.cos(angle)
    R[:, 1, 0], R[:, 2, 2] = np.sin(angle), 1.0
    R[:, 0, 1] = -R[:, 1, 0]
    return R


def wrap(angle: np.ndarray) -> np.ndarray:
    return np.mod(angle + np.pi, 2.0 * np.pi) - np.pi


LIE_DOWN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
STAND_UP = LIE_DOWN.T


class DenseSearch:
    """The smallest rotation angle over a fine net of (q4, q5), refined around its best place.

    Written from the rows of the chain with the shaft found by the law of cosines, so that it
    shares nothing with the code under test but the arm's lengths. q6 is best where the trace, a
    sine of q6, peaks, or at one of its limits.
    """

    def __init__(self, arm: Arm) -> None:
        self.a = arm.model.chain[5].a
        self.b = -arm.model.chain[2].d - arm.model.chain[3].d
        self.lower, self.upper = arm.limits.lower, arm.limits.upper
        self.R_off = arm.model.T_tip_offset[:3, :3]

    def angle(self, T: np.ndarray) -> float:
        R, t = T[:3, :3] @ self.R_off.T, T[:3, 3]
        low, high = self.lower[3:5].copy(), self.upper[3:5].copy()
        best = np.inf
        for _ in range(4):
            net = [np.linspace(low[i], high[i], (91, 31)[i]) for i in range(2)]
            q4, q5 = (axis.ravel() for axis in np.meshgrid(*net, indexing="ij"))
            angles = np.concatenate(
                [self._angles(R, t, q4, q5, side, bend) for side in (1, -1) for bend in (1, -1)]
            )
            if not np.isfinite(angles).any():
                return float("inf")
            at = int(np.argmin(angles)) % len(q4)
            best = min(best, float(angles.min()))
            width = 3.0 * np.array([axis[1] - axis[0] for axis in net])
            place = np.array([q4[at], q5[at]])
            low = np.maximum(self.lower[3:5], place - width)
            high = np.minimum(self.upper[3:5], place + width)
        return best

    def _angles(
        self, R: np.ndarray, t: np.ndarray, q4: np.ndarray, q5: np.ndarray, side: int, bend: int
    ) -> np.ndarray:
        a, lower, upper = self.a, self.lower - 1e-9, self.upper + 1e-9
        beyond = t @ t - (a * np.sin(q5)) ** 2
        W = side * np.sqrt(np.maximum(beyond, 0.0))
        X, Y = a * np.sin(q5) * np.cos(q4), a * np.sin(q5) * np.sin(q4)
        height = -t[1] / np.hypot(X, W)
        q2 = wrap(np.arctan2(W, X) + bend * np.arccos(np.clip(height, -1.0, 1.0)))
        K = np.sin(q2) * X - np.cos(q2) * W
        q1 = np.arctan2(-t[0] * K - t[2] * Y, t[2] * K - t[0] * Y)
        shaft = np.stack([q1, q2, W - a * np.cos(q5) + self.b])
        fits = (beyond >= 0.0) & (np.abs(height) <= 1.0)
        fits &= ((shaft >= lower[:3, None]) & (shaft <= upper[:3, None])).all(axis=0)
        angles = np.full(len(q4), np.inf)
        q1, q2, q4, q5 = q1[fits], q2[fits], q4[fits], q5[fits]
        R3 = STAND_UP @ spin(q1 + QUARTER) @ LIE_DOWN @ spin(q2 - QUARTER) @ STAND_UP
        R5 = R3 @ spin(q4) @ LIE_DOWN @ spin(q5 - QUARTER) @ LIE_DOWN
        M = np.swapaxes(R5, 1, 2) @ R
        even, odd = M[:, 0, 0] + M[:, 1, 1], M[:, 1, 0] - M[:, 0, 1]
        peak = wrap(np.arctan2(odd, even) + QUARTER)
        trace = np.full(len(q4), -np.inf)
        for q6 in (np.clip(peak, lower[5], upper[5]), self.lower[5], self.upper[5]):
            turn = q6 - QUARTER
            trace = np.maximum(trace, even * np.cos(turn) + odd * np.sin(turn) + M[:, 2, 2])
        angles[fits] = np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))
        return angles


def rotation_angle(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    R = np.swapaxes(A[:, :3, :3], 1, 2) @ B[:, :3, :3]
    return np.arccos(np.clip(0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0), -1.0, 1.0))


@pytest.mark.parametrize("instrument", ["400006", "400205"])
def test_within_a_thousandth_of_a_dense_search(instrument: str) -> None:
    arm = load_arm("PSM", instrument=instrument)
    rng = np.random.default_rng(11)
    worse, count = 0, 0
    search = DenseSearch(arm)
    for angle in (0.3, 0.8, 1.5, 3.0):
        q = arm.random_q(rng, 30)
        T = tilted(arm, q, angle, rng)
        batch = arm.inverse_batch(T, seed=q, policy="position_first")
        assert batch.ok.all()
        assert arm.limits.contains(batch.q).all()
        reached = arm.forward(batch.q)
        np.testing.assert_allclose(reached[:, :3, 3], T[:, :3, 3], atol=1e-9)
        np.testing.assert_allclose(rotation_angle(reached, T), batch.rotation_error, atol=1e-6)
        for i in np.flatnonzero(batch.rotation_error > 0.0):
            count += 1
            worse += batch.rotation_error[i] > search.angle(T[i]) + 1e-3
    assert count > 40
    assert worse <= 0.01 * count


def test_a_pose_inside_limits_is_solved_exactly() -> None:
    q = PSM.random_q(np.random.default_rng(12), 20)
    batch = PSM.inverse_batch(PSM.forward(q), seed=q, policy="position_first")
    assert batch.ok.all()
    assert (batch.rotation_error == 0.0).all()
    np.testing.assert_allclose(batch.q, q, atol=1e-8)


def test_single_and_batch_agree() -> None:
    rng = np.random.default_rng(13)
    q = PSM.random_q(rng, 12)
    T = tilted(PSM, q, 1.2, rng)
    T[3, 0, 0] = np.nan
    batch = PSM.inverse_batch(T, seed=q, policy="position_first")
    assert batch.status[3] == IkStatus.INVALID_INPUT
    assert np.isnan(batch.q[3]).all()
    for i in (0, 1, 2, *range(4, 12)):
        one = PSM.inverse(T[i], seed=q[i], policy="position_first")
        assert one.status == batch.status[i]
        assert one.rotation_error == pytest.approx(batch.rotation_error[i], abs=1e-6)
        np.testing.assert_allclose(one.q, batch.q[i], atol=1e-5)


def test_one_joint_past_its_limit_keeps_the_tip_in_place() -> None:
    q = np.array([0.3, -0.2, 0.12, 0.5, 0.4, 1.39626 + 0.2])
    T = PSM.forward(q)
    result = PSM.inverse(T, seed=q, policy="position_first")
    assert result.ok
    assert 0.0 < result.rotation_error < 0.2
    np.testing.assert_allclose(PSM.forward(result.q)[:3, 3], T[:3, 3], atol=1e-12)


@pytest.mark.parametrize(("joint", "value"), [("insertion", 0.26), ("yaw", 1.9), ("pitch", -1.2)])
def test_a_position_out_of_reach_has_a_status_of_its_own(joint: str, value: float) -> None:
    q = np.array([0.3, -0.2, 0.12, 0.5, 0.2, 0.1])
    q[PSM.joint_names.index(joint)] = value
    T = PSM.forward(q)
    result = PSM.inverse(T, seed=q, policy="position_first")
    assert result.status is IkStatus.POSITION_UNREACHABLE
    assert joint in [v.joint for v in result.violations]
    batch = PSM.inverse_batch(T[None], seed=q, policy="position_first")
    assert batch.status[0] == IkStatus.POSITION_UNREACHABLE
    assert batch.violations[0] >> PSM.joint_names.index(joint) & 1


def test_the_wrist_gives_way_where_only_then_the_shaft_stays_inside() -> None:
    """The tip is reachable, but not with the wrist where the orientation would like it."""
    q = np.array([0.3, -0.2, 0.2399, 0.5, 1.3, 0.1])
    T = PSM.forward(q)
    T[:3, 3] *= 1.02
    result = PSM.inverse(T, seed=q, policy="position_first")
    assert result.ok
    assert result.rotation_error > 0.1
    np.testing.assert_allclose(PSM.forward(result.q)[:3, 3], T[:3, 3], atol=1e-9)
