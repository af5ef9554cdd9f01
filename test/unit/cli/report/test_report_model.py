"""Which model a report takes: of the generation that a bag tells, else of an assumed one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_bags import PSM_JOINTS, Rows, at, figures_of, joints, page_of, text, write_bag

from dvrk_kinematics import load_arm
from dvrk_kinematics.cli.report.model import find_model
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.cli.report.recording import ArmRecording
from dvrk_kinematics.models.urdf.describe_urdf import describe

ECM_JOINTS = PSM_JOINTS[:4]


def described(arm: str, generation: str, prefix: str = "") -> str:
    """A URDF of an arm's joints with the limits of a generation, whose links say nothing."""
    model = load_arm(arm, generation=generation).model
    links = "".join(f'<link name="l{k}"/>' for k in range(len(model.joints) + 1))
    moving = "".join(
        f'<joint name="{prefix}{joint.name}" type="{joint.kind.value}"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/><limit lower="{joint.lower:.3f}" upper="{joint.upper:.3f}" '
        'velocity="1" effort="1"/></joint>'
        for k, joint in enumerate(model.joints)
    )
    return f'<robot name="r">{links}{moving}</robot>'


def rows_of(arm: str, names: tuple[str, ...], tool: str = "", description: str = "") -> Rows:
    """An arm whose first joint moves."""
    rows: Rows = [(f"/{arm}/tool_type", 0.0, text(tool))] if tool else []
    rows += [(f"/{arm}/robot_description", 0.0, text(description))] if description else []
    for t in np.arange(0.0, 1.0, 0.005).tolist():
        q = np.full(len(names), 0.1)
        q[0] = 0.2 * t
        rows.append((f"/{arm}/measured_js", t, joints(q, at(t), names=names)))
    return rows


def recorded(folder: Path, rows: Rows) -> ArmRecording:
    (arm,) = read_recording(write_bag(folder / "bag", rows)).arms
    return arm


@pytest.mark.parametrize("generation", ["Classic", "Si"])
@pytest.mark.parametrize(("arm", "names"), [("ECM", ECM_JOINTS), ("PSM1", PSM_JOINTS)])
def test_an_si_arm_with_the_joints_of_a_classic_is_told_by_its_description(
    tmp_path: Path, arm: str, names: tuple[str, ...], generation: str
) -> None:
    urdf = described(arm.rstrip("1"), generation, prefix=f"{arm}_")
    found = find_model(recorded(tmp_path, rows_of(arm, names, description=urdf)))
    assert found is not None and not found.is_assumed
    assert found.arm.model.generation == generation
    assert "assumed" not in str(found)


def test_our_own_description_is_that_of_a_classic_with_any_instrument(tmp_path: Path) -> None:
    urdf = describe("PSM1", instrument="400093")
    found = find_model(recorded(tmp_path, rows_of("PSM1", PSM_JOINTS, description=urdf)))
    assert found is not None and not found.is_assumed
    assert found.arm.model.generation == "Classic"


@pytest.mark.parametrize(
    ("tool", "generation"),
    [("LARGE_NEEDLE_DRIVER:400006[8-9]", "Classic"), ("LARGE_NEEDLE_DRIVER:420006[1-9]", "Si")],
)
def test_a_tool_tells_the_generation(tmp_path: Path, tool: str, generation: str) -> None:
    found = find_model(recorded(tmp_path, rows_of("PSM1", PSM_JOINTS, tool)))
    assert found is not None and not found.is_assumed
    assert found.arm.model.generation == generation


@pytest.mark.parametrize("description", ["", "no URDF", described("PSM", "Si", "other_")])
def test_a_generation_that_nothing_tells_is_said_to_be_assumed(
    tmp_path: Path, description: str
) -> None:
    rows = rows_of("ECM", ECM_JOINTS, description=description.replace("yaw", "turn"))
    bag = write_bag(tmp_path / "bag", rows)
    (arm,) = figures_of(bag).arms
    assert arm.model == "ECM Classic (generation assumed)"
    assert arm.model in page_of(bag)


def test_an_arm_of_one_generation_only_is_not_assumed(tmp_path: Path) -> None:
    names = tuple(load_arm("SUJ_PSM1").joint_names)
    found = find_model(recorded(tmp_path, rows_of("SUJ/PSM1", names)))
    assert str(found) == "SUJ_PSM1 Classic"
