"""URDFs of others: dvrk_model's arms, with signs and a root frame that make them the controller's.

The joints are those of jhu-dvrk/dvrk_model 70998aa, urdf/Classic: origin, axis and mimic.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.kinematics.serial_arm import SerialArm
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf

# name, type, parent, child, xyz, rpy, axis, mimic (joint, multiplier)
Row = tuple[str, str, str, str, str, str, str, tuple[str, float] | None]
PSM: list[Row] = [
    ("yaw", "revolute", "base", "yaw_link", "0 0 0", "0 -1.5708 1.5708", "0 0 1", None),
    ("pitch", "revolute", "yaw_link", "pitch_link", "0 0 0", "-1.5708 -1.5708 0", "0 0 1", None),
    (
        "pitch_2",
        "continuous",
        "yaw_link",
        "pitch_2_link",
        "0 0.0295 0.5185",
        "-1.5708 -1.5708 0",
        "0 0 1",
        ("pitch", 1.0),
    ),
    (
        "pitch_4",
        "continuous",
        "pitch_2_link",
        "pitch_4_link",
        "0.04178 0.15007 -0.0137",
        "0 0 0",
        "0 0 1",
        ("pitch", -1.0),
    ),
    (
        "insertion",
        "prismatic",
        "pitch_link",
        "adaptor_link",
        "0 0.4318 0",
        "1.5708 0 0",
        "0 0 1",
        None,
    ),
    ("roll", "revolute", "adaptor_link", "roll_link", "0 0 0.4162", "0 0 0", "0 0 1", None),
    (
        "wrist_pitch",
        "revolute",
        "roll_link",
        "wrist_pitch_link",
        "0 0 0",
        "-1.5708 -1.5708 0",
        "0 0 1",
        None,
    ),
    (
        "wrist_yaw",
        "revolute",
        "wrist_pitch_link",
        "wrist_yaw_link",
        "0.0091 0 0",
        "-1.5708 -1.5708 0",
        "0 0 1",
        None,
    ),
    ("jaw", "revolute", "wrist_yaw_link", "jaw_link", "0 0 0", "0 0 0", "0 0 1", None),
    (
        "jaw_1",
        "revolute",
        "wrist_yaw_link",
        "jaw_1_link",
        "0 0 0",
        "0 0 0",
        "0 0 1",
        ("jaw", 0.5),
    ),
]
ECM: list[Row] = [
    ("base_fixed", "fixed", "RCM", "base", "-0.612599 0 -0.10146", "0 0 0", "", None),
    (
        "yaw",
        "revolute",
        "base",
        "yaw_link",
        "0.0732 0 0.10146",
        "1.5708 0 1.5708",
        "0 0 1",
        None,
    ),
    (
        "pitch",
        "revolute",
        "yaw_link",
        "pitch_link",
        "0 0 0.199",
        "3.14159 -1.5708 0",
        "0 0 1",
        None,
    ),
    (
        "pitch_2",
        "revolute",
        "pitch_link",
        "pitch_2_link",
        "-0.103001 -0.286805 0",
        "0 0 0",
        "0 0 1",
        ("pitch", -1.0),
    ),
    (
        "pitch_3",
        "revolute",
        "pitch_2_link",
        "pitch_3_link",
        "0.3404 -0.000135621 0",
        "0 0 0",
        "0 0 1",
        ("pitch", 1.0),
    ),
    (
        "insertion",
        "prismatic",
        "pitch_3_link",
        "insertion_link",
        "0.042 -0.086143 0",
        "-1.5708 0 0",
        "0 0 1",
        None,
    ),
    (
        "roll",
        "revolute",
        "insertion_link",
        "roll_link",
        "0.061 0 -0.01",
        "0 0 0",
        "0 0 -1",
        None,
    ),
    ("tip", "fixed", "roll_link", "tip_link", "0 0 0.37364", "0 0 0", "", None),
]


def _urdf(rows: list[Row]) -> str:
    links = dict.fromkeys(name for row in rows for name in (row[2], row[3]))
    parts = [f'<link name="{name}"/>' for name in links]
    for name, kind, parent, child, xyz, rpy, axis, mimic in rows:
        inside = f'<axis xyz="{axis}"/>' if axis else ""
        inside += '<limit lower="-2" upper="3" velocity="1" effort="1"/>' if axis else ""
        if mimic is not None:
            inside += f'<mimic joint="{mimic[0]}" multiplier="{mimic[1]}"/>'
        parts.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/>{inside}</joint>'
        )
    return f'<robot name="foreign">{"".join(parts)}</robot>'


def test_dvrk_models_psm_serves_as_the_tree_of_an_arm(rng: np.random.Generator) -> None:
    """Its links then come out of frames(), beside our own closed-form kinematics."""
    arm = load_arm("PSM")
    urdf = parse_urdf(_urdf(PSM), "psm.urdf")
    assert set(urdf.joint_names) == {*arm.joint_names, "jaw"}
    other = SerialArm(replace(arm.model, links=urdf.links))
    q = arm.random_q(rng, 50)
    ours, theirs = arm.frames(q, 0.3), other.frames(q, 0.3)
    # It rounds pi/2 to 1.5708.
    for link in ("adaptor_link", "roll_link", "wrist_pitch_link", "wrist_yaw_link", "jaw_link"):
        assert np.abs(ours[link] - theirs[link]).max() < 2e-5, link
    assert np.abs(ours["jaw_left_link"] - theirs["jaw_1_link"]).max() < 2e-5


def test_dvrk_models_ecm_agrees_once_signs_and_root_are_given(rng: np.random.Generator) -> None:
    """Its yaw and roll count against the controller's, and its base is turned by 90 deg."""
    arm = load_arm("ECM")
    T_root = se3.make(so3.rot_z(np.pi / 2.0), [0.0, 0.0, 0.0])
    signs = {"yaw": -1.0, "roll": -1.0}
    fitted = parse_urdf(_urdf(ECM), "ecm.urdf", signs=signs, root="RCM", T_root=T_root)
    plain = parse_urdf(_urdf(ECM), "ecm.urdf", root="RCM", T_root=T_root)
    q = arm.random_q(rng, 50)
    tip = arm.forward(q)
    found = LinkTree(fitted.links, fitted.joint_names).frames(q)["tip_link"]
    # Its endoscope ends 10.1 mm before the controller's tip, and it is 0.2 mm off elsewhere.
    assert np.abs(found[:, :3, 3] - (tip[:, :3, 3] - 0.0101 * tip[:, :3, 2])).max() < 3e-4
    turn = np.swapaxes(tip[:, :3, :3], -1, -2) @ found[:, :3, :3]
    assert np.abs(turn - turn[0]).max() < 1e-4, "all joints count the same way"
    wrong = LinkTree(plain.links, plain.joint_names).frames(q)["tip_link"]
    assert np.abs(wrong[:, :3, 3] - tip[:, :3, 3]).max() > 0.05
