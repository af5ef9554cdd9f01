"""Every link of every description is where the models say, by pinocchio's reckoning."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.models.load_model import instrument_names, model_name
from dvrk_kinematics.models.urdf.describe_urdf import expand

ARMS = ["PSM1", "ECM", "SUJ_PSM1", "SUJ_PSM2", "SUJ_PSM3", "SUJ_ECM", "RVM1", "CYBER310"]
INSTRUMENTS = ["400006", "400117", "CAUDIER", "400093", "400183", "400143"]
TOLERANCE = 1e-12


def _arm(name: str, instrument: str | None = None) -> Arm:
    solver = {"solver": "numeric"} if instrument in ("400117", "400143") else {}
    return load_arm(model_name(name), instrument=instrument, **solver)


def _compare(arm: Arm, prefix: str, robot: Any, rng: np.random.Generator) -> None:
    for q in arm.random_q(rng, 25):
        positions = dict(zip(arm.joint_names, q, strict=True))
        opening = rng.uniform(arm.jaw.lower, arm.jaw.upper) if arm.jaw else None
        if opening is not None:
            positions["jaw"] = opening
        found = robot.frames(positions)
        for link, T in arm.frames(q, opening).items():
            assert np.abs(found[prefix + link] - T).max() < TOLERANCE, link
        assert np.abs(found[f"{prefix}tip"] - arm.forward(q)).max() < TOLERANCE


@pytest.mark.parametrize("name", ARMS)
def test_links_are_where_the_model_says(
    name: str, described: Any, oracle: Any, rng: np.random.Generator
) -> None:
    """ECM included: its joints count as the controller's, unlike in other URDFs."""
    _compare(_arm(name), f"{name}_", oracle(described(name)), rng)


@pytest.mark.parametrize("instrument", INSTRUMENTS)
def test_instruments_end_where_forward_says(
    instrument: str, described: Any, oracle: Any, rng: np.random.Generator
) -> None:
    text = described("PSM1", instrument=instrument)
    _compare(_arm("PSM1", instrument), "PSM1_", oracle(text), rng)


def test_every_classic_instrument_is_where_the_model_says(
    tmp_path: Path, oracle: Any, rng: np.random.Generator
) -> None:
    """All of them in one tree, from a file of a user's own that uses our macros."""
    names = instrument_names("Classic")
    macros = Path(__file__).resolve().parents[4] / "urdf" / "macros" / "instrument.xacro"
    parts = [
        f'<link name="t{i}_rest"/><joint name="t{i}_at" type="fixed"><parent link="world"/>'
        f'<child link="t{i}_rest"/></joint><xacro:dvrk_find_instrument instrument="{name}"/>'
        f'<xacro:dvrk_instrument tool="${{tool}}" mount="rest" prefix="t{i}_" '
        f'joint_prefix="t{i}_"/>'
        for i, name in enumerate(names)
    ]
    file = tmp_path / "all.urdf.xacro"
    file.write_text(
        '<robot name="all" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="world"/>'
        f'<xacro:include filename="{macros}"/>{"".join(parts)}</robot>'
    )
    robot = oracle(expand(file))
    assert len(names) == 28
    for i, name in enumerate(names):
        arm = load_arm("PSM", instrument=name)
        q = arm.random_q(rng)
        positions = {f"t{i}_{n}": v for n, v in zip(arm.joint_names[3:], q[3:], strict=True)}
        expected = arm.frames(q, 0.1)
        found = robot.frames({**positions, f"t{i}_jaw": 0.1})
        T = se3.inverse(expected["adaptor_link"])
        for link in ("roll_link", "tip", "jaw_tip", "jaw_left_link", "jaw_right_link"):
            assert np.abs(found[f"t{i}_{link}"] - T @ expected[link]).max() < TOLERANCE, name


def test_the_cart_puts_every_arm_where_its_setup_joints_carry_it(
    expanded: Any, oracle: Any, rng: np.random.Generator
) -> None:
    robot = oracle(expanded("patient_cart"))
    positions: dict[str, float] = {}
    tips = {}
    for name in ("PSM1", "PSM2", "PSM3", "ECM"):
        carrier, arm = load_arm(f"SUJ_{name}"), _arm(name)
        q_carrier, q = carrier.random_q(rng), arm.random_q(rng)
        positions |= dict(zip(carrier.joint_names, q_carrier, strict=True))
        positions |= {f"{name}_{n}": v for n, v in zip(arm.joint_names, q, strict=True)}
        tips[name] = carrier.forward(q_carrier) @ arm.forward(q)
    found = robot.frames(positions)
    for name, T in tips.items():
        assert np.abs(found[f"{name}_tip"] - T).max() < TOLERANCE, name
        assert np.allclose(found[f"{name}_base"], found[f"SUJ_{name}_tip"], atol=1e-15)


def test_joint_names_are_the_controllers(described: Any, oracle: Any) -> None:
    psm = {"yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw", "jaw"}
    assert oracle(described("PSM1")).joints == psm
    assert oracle(described("ECM")).joints == {"yaw", "pitch", "insertion", "roll"}
    assert oracle(described("SUJ_PSM1")).joints == {f"SUJ_PSM1_J{i}" for i in range(6)}
    assert oracle(described("SUJ_ECM")).joints == {f"SUJ_ECM_J{i}" for i in range(4)}
    for name in ("RVM1", "CYBER310"):
        assert oracle(described(name)).joints == set(_arm(name).joint_names)


@pytest.mark.parametrize("name", ["PSM1", "ECM", "SUJ_PSM1", "RVM1", "CYBER310"])
def test_limits_are_the_controllers(name: str, described: Any) -> None:
    arm, text = _arm(name), described(name)
    joints = [*arm.model.joints, *([arm.jaw] if arm.jaw else [])]
    number = r"([-+.e\d]+)"
    for joint in joints:
        body = re.search(rf'<joint name="{joint.name}".*?</joint>', text, re.S)
        assert body is not None
        found = [
            float(re.search(rf'{key}="{number}"', body.group()).group(1))  # type: ignore[union-attr]
            for key in ("lower", "upper", "velocity", "effort")
        ]
        assert found == [joint.lower, joint.upper, joint.velocity, joint.effort], joint.name


def test_the_scene_has_both_arms_at_their_ports(
    expanded: Any, oracle: Callable[[str], Any]
) -> None:
    found = oracle(expanded("torso_scene")).frames({})
    right, left = found["PSM1_base"], found["PSM2_base"]
    assert right[1, 3] == -left[1, 3] < 0.0
    assert np.allclose(right[:3, :3], np.eye(3))
    assert np.allclose(left[:3, 1], [0.0, -1.0, 0.0])
