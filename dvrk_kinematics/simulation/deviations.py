"""Where the simulated arms differ from the dVRK on purpose.

We reproduce everything that a client has to cope with. Input that hangs, kills or confuses the
dVRK, or that it silently ignores, causes a warning instead.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEVIATIONS", "Deviation"]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One difference.

    Attributes:
        key: A short name, for tests and tables.
        when: The message sent, and the state in which it is sent.
        dvrk: What the dVRK does.
        here: What the simulated arm does.
        recordings: Names of recorded wrong messages, or steps of sessions, that show it.
    """

    key: str
    when: str
    dvrk: str
    here: str
    recordings: tuple[str, ...] = ()


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation(
        "too_few_values",
        "servo_jp, servo_jr, jaw/servo_jp or an effort command with too few values; servo_jf with "
        "too many",
        "dropped without a word on any topic",
        "dropped with a warning: expected n values but received m",
        (
            "servo_jp_0",
            "servo_jp_5",
            "servo_jr_5",
            "servo_jf_0",
            "servo_jf_5",
            "servo_jf_7",
            "jaw_servo_jp_0",
            "jaw_servo_jf_0",
        ),
    ),
    Deviation(
        "short_move_jr",
        "move_jr with too few values",
        "is_busy becomes true and stays so until the next move",
        "dropped with a warning",
        ("move_jr_5",),
    ),
    Deviation(
        "nan_position",
        "NaN in a joint position or a pose",
        "error about a division by quasi zero, DISABLED, set-points are NaN",
        "dropped with a warning, the arm stays ENABLED",
        (
            "servo_jp_nan",
            "move_jp_nan",
            "servo_cp_nan",
            "move_cp_nan",
            "jaw_servo_jp_nan",
            "jaw_move_jp_nan",
        ),
    ),
    Deviation(
        "nan_effort",
        "NaN or infinity in an effort, a velocity or an increment",
        "accepted, set-points become NaN",
        "dropped with a warning",
        ("servo_jf_nan",),
    ),
    Deviation(
        "no_rotation",
        "a quaternion that is zero or NaN in servo_cp, move_cp or set_base_frame",
        "dropped without a word on any topic",
        "dropped with a warning",
        (
            "servo_cp_zero_quat",
            "servo_cp_nan_quat",
            "move_cp_zero_quat",
            "set_base_frame_zero_quat",
        ),
    ),
    Deviation(
        "forward_without_tool",
        "forward_kinematics with more than four joints while no tool is configured",
        "dvrk_system dies (segmentation fault)",
        "result false, message: no tool is configured",
        ("disabled_fk_6", "disabled_fk_6_local", "nothomed_fk_6"),
    ),
    Deviation(
        "service_not_finite",
        "forward_kinematics or inverse_kinematics with NaN, or with a zero quaternion",
        "no answer at all, or result true and all NaN",
        "result false, with a message",
        ("fk_nan", "ik_nan_pose", "ik_nan_seed", "ik_zero_quat"),
    ),
    Deviation(
        "cannula_move_cp",
        "move_cp before the cannula is passed, after a servo command",
        "is_busy becomes true and stays so until the next move",
        "the warning about the cannula only (1 of 1000), nothing moves",
    ),
    Deviation(
        "empty_servo_cs",
        "servo_cs with neither pose nor velocity",
        "all joints are sent to zero",
        "dropped with a warning",
    ),
    Deviation(
        "suj_wrong_command",
        "setup joints: joint positions that are not six, or an unknown reference arm",
        "ignored without a word on any topic",
        "ignored with a warning",
        ("c4b_suj_short", "c8_set_reference_arm_bad", "c9_set_reference_arm_cart"),
    ),
    Deviation(
        "overspeed",
        "a move in positive direction over one to one and a half times v^2/a",
        "the speed limit is exceeded, by up to 22 %",
        "the speed limit is kept",
    ),
    Deviation(
        "move_time",
        "every move",
        "takes 2 to 10 % less or more than the ideal time: cycles are counted, not time",
        "takes the ideal time",
    ),
    Deviation(
        "goal_outside_limits",
        "a pose far outside the limits",
        "damped least squares ends in one of several branches, decided by the last digits",
        "the same search, whose branch can differ",
    ),
    Deviation(
        "joints_jump",
        "enable after disable",
        "in its own simulation joints jump to zero; on hardware they stay",
        "joints stay; option reset_joints_on_enable",
    ),
)
"""All of them."""
