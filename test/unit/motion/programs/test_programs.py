"""Recordings: taught, stored without losing a digit, replayed on one arm and on several."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, ModelError, PlanReason, PlanRefused, ReplayRefused
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import Move, MoveAbsJ, MoveC, MoveJ, MoveL
from dvrk_kinematics.motion.programs.program import Program, Replay, plan_recording, plan_together
from dvrk_kinematics.motion.programs.program_file import (
    format_recording,
    load_recording,
    save_recording,
)
from dvrk_kinematics.motion.timing.logistic import Curve
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

HERE = np.array([0.1, 0.05, 0.12, 0.3, 0.2, -0.1])
THERE = np.array([-0.1, 0.15, 0.14, 0.1, -0.2, 0.2])
UP = se3.translation([0.0, 0.0, -0.01])


def lesson(arm: Arm) -> Program:
    return Program("lesson", arm.joint_names).teach(HERE).teach(THERE, speed=0.5)


def same(a: Move, b: Move) -> bool:
    """Whether two moves are equal to the last bit."""
    if type(a) is not type(b):
        return False
    for name, one in vars(a).items():
        other = vars(b)[name]
        equal = (
            np.array_equal(one, other)
            if isinstance(one, np.ndarray)
            else type(one) is type(other) and one == other
        )
        if not equal:
            return False
    return True


numbers = st.floats(-1e3, 1e3)
positive = st.floats(1e-9, 10.0)
fractions = st.floats(0.0, 1.0, exclude_min=True)
vectors = st.lists(numbers, min_size=3, max_size=3)
tip_speeds = st.builds(TipSpeeds, positive, positive, positive, positive)


@st.composite
def poses(draw: st.DrawFn) -> Array:
    return se3.make(so3.exp(np.array(draw(vectors))), draw(vectors))


frames = st.one_of(st.sampled_from(["base", "tool"]), poses())
moves = st.one_of(
    st.builds(
        MoveAbsJ,
        st.lists(numbers, min_size=6, max_size=6).map(np.array),
        fractions,
        fractions,
        st.sampled_from([(), (Curve(0.6, 0.2, 0.005),) * 6]),
    ),
    st.builds(MoveJ, poses(), frames, fractions, fractions, st.booleans()),
    st.builds(
        MoveL, poses(), frames, tip_speeds, st.sampled_from([0.0, 1e-7, 0.01]), st.booleans()
    ),
    st.builds(MoveC, poses(), vectors.map(np.array), frames, tip_speeds, st.booleans()),
)


@given(st.lists(moves, min_size=1, max_size=4))
def test_a_stored_recording_comes_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Move]
) -> None:
    file = tmp_path_factory.mktemp("recordings") / "any.yaml"
    recording = Program("any", load_arm("PSM").joint_names, tuple(steps))
    save_recording(recording, file)
    back = load_recording(file)
    assert (back.name, back.joint_names) == (recording.name, recording.joint_names)
    assert len(back.steps) == len(steps)
    assert all(same(a, b) for a, b in zip(steps, back.steps, strict=True))
    assert format_recording(back) == format_recording(recording)


def test_a_person_can_write_one(tmp_path: Path) -> None:
    file = tmp_path / "lift.yaml"
    file.write_text(
        "name: lift\n"
        "joint_names: [yaw, pitch, insertion, roll, wrist_pitch, wrist_yaw]\n"
        "steps:\n"
        "- move_abs_j: {jp: [0.1, 0, 0.12, 0, 0.2, 0]}\n"
        "- move_l: {frame: tool, pose: {translation: [0, 0, -0.02]}, speeds: {speed: 0.01}}\n"
    )
    there, lift = load_recording(str(file)).steps
    assert isinstance(there, MoveAbsJ) and isinstance(lift, MoveL)
    assert (there.speed, there.acceleration) == (0.2, 0.2)
    assert lift.frame == "tool" and lift.speeds == TipSpeeds(speed=0.01)
    np.testing.assert_array_equal(lift.T, se3.translation([0, 0, -0.02]))


def test_a_stored_recording_can_be_read(psm: Arm) -> None:
    text = format_recording(lesson(psm))
    assert "name: lesson\njoint_names: [yaw, pitch, insertion, roll" in text
    assert "jp: [0.1, 0.05, 0.12, 0.3, 0.2, -0.1]" in text
    assert "speed: 0.5" in text


def test_saving_leaves_one_whole_file(psm: Arm, tmp_path: Path) -> None:
    file = tmp_path / "lesson.yaml"
    for _ in range(2):
        save_recording(lesson(psm), file)
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(InvalidInput, match=r"path: .* cannot be written"):
        save_recording(lesson(psm), tmp_path / "nowhere" / "lesson.yaml")


STEP = "name: r\njoint_names: [a]\nsteps:\n- "
UNIT = "pose: {translation: [0, 0, 0]}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "r.yaml: must be a mapping, is empty"),
        ("name: r\nsteps: []", "r.yaml: steps: is empty"),
        ("name: r", "r.yaml: missing: steps"),
        ("name: ../r\nsteps: [{move_j: {" + UNIT + "}}]", "r.yaml: name: must be 1 to 64 letters"),
        (STEP + "move_abs_j: {jp: [1e-7]}", r"steps.0.move_abs_j.jp.0: .* \(write 1.0e-7"),
        (STEP + "move_abs_j: {jp: [one]}", "jp.0: must be a number, is text 'one'"),
        (STEP + "move_abs_j: {jp: [.nan]}", "jp.0: must be finite"),
        (STEP + "move_abs_j: {jp: [1, 2]}", r"r.yaml: steps\[0\]: has 2 joints, the recording 1"),
        (STEP + "move_abs_j: {jp: [1], speed: 2}", "steps.0.move_abs_j: speed: is a part of what"),
        (STEP + "move_abs_j: {jp: [1], sped: 2}", "unknown: sped; allowed: acceleration, curves"),
        (STEP + "jump: {}", "steps.0: must have one key, one of move_abs_j, move_j, .*; has jump"),
        (STEP + "{}", "steps.0: must have one key"),
        (STEP + "move_l: {pose: {translation: [0, 0]}}", "translation: needs 3 numbers, has 2"),
        (
            STEP + "move_l: {pose: {translation: [0, 0, 0], rotation: [[1,0,0],[0,1,0],[0,0,2]]}}",
            "steps.0.move_l.pose: is no rotation",
        ),
        (STEP + "move_l: {frame: moon, " + UNIT + "}", "steps.0.move_l: frame: must be"),
        (STEP + "move_l: {" + UNIT + ", blend_radius: -1}", "blend_radius: must be positive"),
        (STEP + "move_l: {" + UNIT + ", speeds: {speed: 0}}", "speed: must be positive"),
        (STEP + "move_c: {" + UNIT + "}", "steps.0.move_c: missing: via"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_with_its_place(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(text)
    with pytest.raises(ModelError, match=sentence):
        load_recording(file)


def test_recording_a_step_leaves_the_shorter_recording_as_it_was(psm: Arm) -> None:
    short = Program("short", psm.joint_names)
    longer = short.teach(HERE).add(MoveL(UP, "tool"))
    assert not short.steps
    assert [type(step) for step in longer.steps] == [MoveAbsJ, MoveL]


def test_what_cannot_be_recorded_is_refused(psm: Arm) -> None:
    empty = Program("empty", psm.joint_names)
    with pytest.raises(InvalidInput, match=r"steps\[0\]: has 2 joints, the recording 6"):
        empty.teach([0.0, 0.1])
    with pytest.raises(InvalidInput, match="jp: needs one finite number a joint"):
        empty.teach([np.nan] * 6)
    for name in ("", "a b", "../a", "a" * 65):
        with pytest.raises(InvalidInput, match="name: must be 1 to 64 letters"):
            Program(name)


def test_a_replay_goes_through_the_taught_points(psm: Arm) -> None:
    plan = plan_recording(psm, lesson(psm), np.zeros(6), make_motion_limits(psm), repeat=2)
    assert plan.flight_plan.ok
    np.testing.assert_allclose(plan.spline.position[-1], THERE, atol=1e-12)
    for q in (HERE, THERE):
        rests = np.flatnonzero(np.abs(plan.spline.position - q).max(axis=1) < 1e-9)
        assert len(rests) == 2, "once a round"
        np.testing.assert_allclose(plan.spline.velocity[rests], 0.0, atol=1e-12)


def test_a_replay_that_cannot_be_done_says_which_step(psm: Arm) -> None:
    limits = make_motion_limits(psm)
    deep = lesson(psm).add(MoveL(se3.translation([0.0, 0.0, 0.3]), "tool"))
    with pytest.raises(PlanRefused) as refusal:
        plan_recording(psm, deep, np.zeros(6), limits)
    assert refusal.value.step == 2
    assert refusal.value.reason is PlanReason.POSITION_LIMIT
    with pytest.raises(InvalidInput, match="recording: empty holds no steps"):
        plan_recording(psm, Program("empty"), HERE, limits)
    with pytest.raises(InvalidInput, match="times: must be at least 1"):
        plan_recording(psm, lesson(psm), HERE, limits, repeat=0)


def test_points_are_replayed_on_their_own_joints_only_and_poses_on_any_arm(psm: Arm) -> None:
    snake = load_arm("PSM", instrument="400117")
    q = np.array([0.1, 0.05, 0.15, 0.3, 0.1, -0.1, -0.1, 0.1])
    with pytest.raises(InvalidInput, match=r"lesson was taught on joints yaw, .*; the arm has"):
        plan_recording(snake, lesson(psm), q, make_motion_limits(snake))
    lift = Program("lift").add(MoveL(UP, "tool", TipSpeeds(speed=0.02, acceleration=0.1)))
    for arm, start in ((snake, q), (psm, HERE)):
        plan = plan_recording(arm, lift, start, make_motion_limits(arm))
        np.testing.assert_allclose(
            arm.forward(plan.spline.position[-1]), arm.forward(start) @ UP, atol=1e-9
        )


def test_several_arms_start_together_and_none_is_stretched(psm: Arm) -> None:
    other = load_arm("PSM", instrument="420006", generation="Si")
    lift = Program("lift").add(MoveL(UP, "tool"))
    parts = {
        "PSM1": Replay(psm, HERE, lesson(psm)),
        "PSM2": Replay(other, HERE, lift),
        "PSM3": Replay(psm, THERE, lift, make_motion_limits(psm, 0.5, 0.5)),
    }
    plans = plan_together(parts)
    assert list(plans) == list(parts)
    for name, plan in plans.items():
        arm, q_start, recording, _ = parts[name]
        alone = plan_recording(arm, recording, q_start, make_motion_limits(arm))
        assert plan.times_ns[0] == 0
        np.testing.assert_array_equal(plan.spline.position[0], q_start)
        assert plan.duration_s == alone.duration_s


def test_if_one_arm_cannot_none_is_planned_and_it_is_named(psm: Arm) -> None:
    parts = {
        "PSM1": Replay(psm, HERE, lesson(psm)),
        "PSM2": Replay(psm, HERE, Program("far").add(MoveL(se3.translation([1.0, 0, 0])))),
    }
    with pytest.raises(ReplayRefused, match="PSM2: step 0") as refusal:
        plan_together(parts)
    assert refusal.value.arm == "PSM2"
    assert isinstance(refusal.value.cause, PlanRefused)
    with pytest.raises(InvalidInput, match="parts: there is no arm"):
        plan_together({})


def test_the_cannula_rule_holds_for_each_arm(psm: Arm) -> None:
    shallow = np.array([0.0, 0.0, 0.07, 0.0, 0.0, 0.0])
    out = Program("out").add(MoveL(se3.translation([0.0, 0.0, -0.02]), "tool"))
    with pytest.raises(ReplayRefused) as refusal:
        plan_together({"PSM1": Replay(psm, shallow, out)})
    cause = refusal.value.cause
    assert isinstance(cause, PlanRefused) and cause.reason is PlanReason.IN_CANNULA
    assert cause.value < cause.limit == WRIST_DEPTH_M


def test_curves_of_the_joints_are_kept(psm: Arm, tmp_path: Path) -> None:
    bent = MoveAbsJ(THERE, curves=tuple(Curve(0.4 + 0.05 * i, 0.2) for i in range(6)))
    file = tmp_path / "bent.yaml"
    save_recording(Program("bent", psm.joint_names).add(bent), file)
    assert same(load_recording(file).steps[0], bent)
    slow = TipSpeeds(angular_speed=pi / 24)
    save_recording(Program("slow").add(MoveL(UP, speeds=slow)), file)
    assert same(load_recording(file).steps[0], MoveL(UP, speeds=slow))
