"""Moves that are steps: along and about the axes of the base, of the tool or of any frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import Arm
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import Frame, Move, MoveC, MoveJ, MoveL, find_target, find_via
from dvrk_kinematics.motion.planning.planner import plan_motion
from dvrk_kinematics.motion.programs.program_file import load_recording

Q = np.array([0.1, 0.05, 0.12, 0.3, 0.2, -0.1])
SHIFT = np.array([0.004, -0.003, 0.005])
STEP = se3.make(so3.exp(np.array([0.1, 0.2, -0.15])), SHIFT)
FRAME = se3.make(so3.exp(np.array([1.0, -0.4, 0.7])), [0.3, 0.2, 0.1])


def _end(arm: Arm, *moves: Move) -> Array:
    plan = plan_motion(arm, moves, Q, make_motion_limits(arm))
    return arm.forward(plan.spline.position[-1])


@pytest.mark.parametrize("kind", [MoveJ, MoveL])
def test_a_step_goes_along_the_base_axes_whatever_the_tool_does(
    psm: Arm, kind: type[MoveJ | MoveL]
) -> None:
    T_begin = psm.forward(Q)
    T_end = _end(psm, kind(se3.translation(SHIFT), relative=True))
    np.testing.assert_allclose(T_end[:3, 3], T_begin[:3, 3] + SHIFT, atol=1e-9)
    np.testing.assert_allclose(T_end[:3, :3], T_begin[:3, :3], atol=1e-9)
    T_end = _end(psm, kind(STEP, relative=True))
    np.testing.assert_allclose(T_end[:3, 3], T_begin[:3, 3] + SHIFT, atol=1e-9)
    np.testing.assert_allclose(T_end[:3, :3], STEP[:3, :3] @ T_begin[:3, :3], atol=1e-9)


@pytest.mark.parametrize("frame", ["base", "tool", FRAME], ids=["base", "tool", "any"])
def test_a_step_and_its_inverse_lead_back(psm: Arm, frame: Frame) -> None:
    """There along an axis, back along the same: to where the tip was, in any frame."""
    T_begin = psm.forward(Q)
    back = se3.translation(-SHIFT)
    T_end = _end(
        psm,
        MoveL(se3.translation(SHIFT), frame, relative=True),
        MoveL(back, frame, relative=True),
    )
    np.testing.assert_allclose(T_end, T_begin, atol=1e-9)


def test_with_the_tool_as_frame_a_step_is_what_a_pose_is(psm: Arm) -> None:
    T = psm.forward(Q)
    for relative in (False, True):
        move = MoveC(STEP, SHIFT, "tool", relative=relative)
        np.testing.assert_allclose(find_target(move, T), T @ STEP, atol=1e-12)
        np.testing.assert_allclose(find_via(move, T), se3.apply(T, SHIFT), atol=1e-12)


def test_of_a_frame_only_the_axes_count(psm: Arm) -> None:
    T, R = psm.forward(Q), FRAME[:3, :3]
    elsewhere = se3.make(R, [-0.1, 0.5, 0.0])
    found = [find_target(MoveL(STEP, frame, relative=True), T) for frame in (FRAME, elsewhere)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    np.testing.assert_allclose(found[0][:3, 3], T[:3, 3] + R @ SHIFT, atol=1e-12)
    turn = found[0][:3, :3] @ T[:3, :3].T
    np.testing.assert_allclose(so3.log(turn), R @ so3.log(STEP[:3, :3]), atol=1e-12)
    arc = MoveC(STEP, SHIFT, FRAME, relative=True)
    np.testing.assert_allclose(find_via(arc, T), T[:3, 3] + R @ SHIFT, atol=1e-12)


def test_steps_are_joined_with_rounded_corners(psm: Arm) -> None:
    """Each starts where the one before would have ended, though the corner is cut."""
    right, up = se3.translation([0.01, 0.0, 0.0]), se3.translation([0.0, 0.0, 0.01])
    T_end = _end(psm, MoveL(right, relative=True, blend_radius=0.003), MoveL(up, relative=True))
    np.testing.assert_allclose(T_end[:3, 3] - psm.forward(Q)[:3, 3], [0.01, 0, 0.01], atol=1e-9)


def test_a_recording_holds_steps(psm: Arm, tmp_path: Path) -> None:
    file = tmp_path / "up.yaml"
    file.write_text(
        "name: up\nsteps:\n- move_l: {relative: true, pose: {translation: [0, 0, 0.01]}}\n"
    )
    (step,) = load_recording(file).steps
    assert isinstance(step, MoveL) and step.relative and step.frame == "base"
