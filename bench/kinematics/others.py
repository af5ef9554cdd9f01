"""The same tasks with pinocchio and with the Robotics Toolbox for Python."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.kinematics.cases import RIGHT_M, RIGHT_RAD, Cases, Row
from dvrk_kinematics.models.schema import ArmModel, DhRow, JointKind

__all__ = ["PinocchioPsm", "ToolboxPsm", "pinocchio_rows", "toolbox_rows"]

FloatArray = npt.NDArray[np.float64]
LIMIT_SEARCHES = 100


class PinocchioPsm:
    """A PSM in pinocchio: the same chain, solved by damped least squares.

    Args:
        model: The arm, in modified Denavit-Hartenberg rows.
    """

    def __init__(self, model: ArmModel) -> None:
        self.pin: Any = import_module("pinocchio")
        self.model = self.pin.Model()
        parent = 0
        for row in model.chain:
            kind = row.kind is JointKind.PRISMATIC
            joint = self.pin.JointModelPZ() if kind else self.pin.JointModelRZ()
            placement = self.pin.SE3(_row_matrix(row))
            parent = self.model.addJoint(parent, joint, placement, str(row.joint))
        frame = self.pin.Frame(
            "tip", parent, self.pin.SE3(np.array(model.T_tip_offset)), self.pin.FrameType.OP_FRAME
        )
        self.tip = self.model.addFrame(frame)
        self.data = self.model.createData()
        self.damping = 1e-8 * np.eye(6)
        self.turning = np.array([row.kind is JointKind.REVOLUTE for row in model.chain])

    def forward(self, q: FloatArray) -> Any:
        """Compute base to tip."""
        self.pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.tip].homogeneous

    def jacobian(self, q: FloatArray) -> Any:
        """Compute the Jacobian at the tip along the base's axes."""
        frame = self.pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return self.pin.computeFrameJacobian(self.model, self.data, q, self.tip, frame)

    def inverse(self, T: FloatArray, seed: FloatArray) -> FloatArray:
        """Solve by damped least squares, as pinocchio's own example does.

        It stops at a tenth of what counts as right, and we wrap its angles to within half a turn,
        so that we judge it at its best.
        """
        pin, model, data, tip, damping = self.pin, self.model, self.data, self.tip, self.damping
        goal, q = pin.SE3(T), seed.copy()
        for _ in range(200):
            pin.framesForwardKinematics(model, data, q)
            away = data.oMf[tip].actInv(goal)
            error = pin.log6(away).vector
            if error @ error < 0.01 * min(RIGHT_M, RIGHT_RAD) ** 2:
                break
            J = -pin.Jlog6(away.inverse()) @ pin.computeFrameJacobian(model, data, q, tip)
            q -= J.T @ np.linalg.solve(J @ J.T + damping, error)
        turning = self.turning
        q[turning] = np.arctan2(np.sin(q[turning]), np.cos(q[turning]))
        return np.asarray(q)


class ToolboxPsm:
    """A PSM in the Robotics Toolbox: the same chain, solved by its compiled ``ik_LM``.

    Args:
        model: The arm, in modified Denavit-Hartenberg rows.
    """

    def __init__(self, model: ArmModel) -> None:
        toolbox: Any = import_module("roboticstoolbox")
        links = []
        for row, joint in zip(model.chain, model.joints, strict=True):
            bounds = [joint.lower, joint.upper]
            if row.kind is JointKind.PRISMATIC:
                link = toolbox.PrismaticMDH(
                    alpha=row.alpha, a=row.a, theta=row.theta, offset=row.d, qlim=bounds
                )
            else:
                link = toolbox.RevoluteMDH(
                    alpha=row.alpha, a=row.a, d=row.d, offset=row.theta, qlim=bounds
                )
            links.append(link)
        robot = toolbox.DHRobot(links, tool=np.array(model.T_tip_offset))
        self.ets = robot.ets()

    def forward(self, q: FloatArray) -> Any:
        """Compute base to tip."""
        return self.ets.eval(q)

    def jacobian(self, q: FloatArray) -> Any:
        """Compute the Jacobian at the tip along the base's axes."""
        return self.ets.jacob0(q)

    def inverse(self, T: FloatArray, seed: FloatArray) -> Any:
        """Solve by Levenberg-Marquardt inside limits, drawing new seeds where it fails."""
        answer = self.ets.ik_LM(
            T, q0=seed, ilimit=30, slimit=LIMIT_SEARCHES, tol=1e-14, joint_limits=True
        )
        return answer[0]


def _row_matrix(row: DhRow) -> FloatArray:
    """Return the constant part of a modified row: Rx(alpha) Tx(a) Rz(theta) Tz(d)."""
    sa, ca, st, ct = np.sin(row.alpha), np.cos(row.alpha), np.sin(row.theta), np.cos(row.theta)
    return np.array(
        [
            [ct, -st, 0.0, row.a],
            [st * ca, ct * ca, -sa, -sa * row.d],
            [st * sa, ct * sa, ca, ca * row.d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def _rows(system: str, arm: PinocchioPsm | ToolboxPsm, cases: Cases, solver: str) -> list[Row]:
    count = len(cases.q)
    T, q = list(cases.T), list(cases.q)
    far, near = list(cases.far), list(cases.near)
    forward, jacobian, inverse = arm.forward, arm.jacobian, arm.inverse
    return [
        Row(system, "forward", lambda: [forward(x) for x in q], count),
        Row(system, "jacobian", lambda: [jacobian(x) for x in q], count),
        Row(
            f"{system} {solver}",
            "inverse, near seed",
            lambda: [inverse(t, s) for t, s in zip(T, near, strict=True)],
            count,
            cases.judge,
        ),
        Row(
            f"{system} {solver}",
            "inverse, far seed",
            lambda: [inverse(t, s) for t, s in zip(T, far, strict=True)],
            count,
            cases.judge,
        ),
    ]


def pinocchio_rows(cases: Cases) -> list[Row]:
    """Make pinocchio's rows of the benchmark."""
    arm = PinocchioPsm(cases.arm.model)
    system = f"pinocchio {arm.pin.__version__}"
    rows = _rows(system, arm, cases, "damped least squares")
    q = list(cases.q)
    # The six joints and the tip; the universe, which is counted too, stands for the tip.
    task = f"frames of {arm.model.njoints} links"
    frames = Row(system, task, lambda: [arm.forward(x) for x in q], len(q))
    return [*rows, frames]


def toolbox_rows(cases: Cases) -> list[Row]:
    """Make the Robotics Toolbox's rows of the benchmark."""
    version = import_module("importlib.metadata").version("roboticstoolbox-python")
    return _rows(f"roboticstoolbox {version}", ToolboxPsm(cases.arm.model), cases, "ik_LM, limits")
