"""Which URDF a bridge shows, under which names, and how its tree joins the dVRK's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from observer import Observer, bridge_process, find_pose, until
from rclpy.node import Node
from urdf_parser_py.urdf import URDF

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf
from dvrk_kinematics.ros.bringup.processes import simulated_arms
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

TOL = 1e-9
URDF_FOLDER = Path(__file__).parents[3] / "urdf"
POSTURES = {"PSM1": [0.3, -0.2, 0.14, 0.5, -0.4, 0.2], "ECM": [0.2, -0.1, 0.06, 0.4]}
ECM_TURN = 0.5 * np.pi
RATE_HZ = 50.0
"""Slower than usual, since there are many bridges."""

# name, type, parent, child, xyz, rpy, mimic: an ECM in the manner of dvrk_model's. Its yaw and
# roll count against the controller's, and its remote centre is turned by 90 deg.
ECM_ROWS = [
    ("base_fixed", "fixed", "RCM", "stand", "-0.612599 0 -0.10146", "0 0 0", ""),
    ("yaw", "revolute", "stand", "yaw_link", "0.0732 0 0.10146", "1.5708 0 1.5708", ""),
    ("pitch", "revolute", "yaw_link", "pitch_link", "0 0 0.199", "3.14159 -1.5708 0", ""),
    ("bar", "revolute", "pitch_link", "bar_link", "-0.103 -0.2868 0", "0 0 0", "-1"),
    ("insertion", "prismatic", "bar_link", "slide_link", "0.042 0.2 0", "-1.5708 0 0", ""),
    ("roll", "revolute", "slide_link", "roll_link", "0.061 0 -0.01", "0 0 0", ""),
]


def ecm_text() -> str:
    """The URDF of the rows; mounted on a table, so that its root is not the remote centre."""
    names = ["table", *dict.fromkeys(name for row in ECM_ROWS for name in row[2:4])]
    parts = [f'<link name="{name}"/>' for name in names]
    rows = [("mount", "fixed", "table", "RCM", "0.5 0 1", "0 0 0.3", ""), *ECM_ROWS]
    for name, kind, parent, child, xyz, rpy, mimic in rows:
        inside = f'<mimic joint="pitch" multiplier="{mimic}"/>' if mimic else ""
        if kind != "fixed":
            inside += '<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/>'
        parts.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/>{inside}</joint>'
        )
    return f'<robot name="foreign">{"".join(parts)}</robot>'


XACRO = f"""<robot name="mine" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="{URDF_FOLDER}/macros/materials.xacro"/>
  <xacro:include filename="{URDF_FOLDER}/macros/psm.xacro"/>
  <xacro:dvrk_materials/>
  <link name="table"/>
  <xacro:dvrk_psm prefix="mine_" parent="table" xyz="0 0.5 1" rpy="0 0 0.5" instrument="400006"/>
</robot>"""


class Lab:
    """A PSM and an ECM, and bridges that show them in several ways."""

    def __init__(self, run: Any, node: Node, folder: Path) -> None:
        (folder / "ecm.urdf").write_text(ecm_text())
        (folder / "mine.urdf.xacro").write_text(XACRO)
        ecm = {
            "description": str(folder / "ecm.urdf"),
            "description_root": "RCM",
            "description_pose": [0.0, 0.0, 0.0, 0.0, 0.0, ECM_TURN],
            "description_signs": ["yaw", "roll"],
        }
        mine = {
            "description": str(folder / "mine.urdf.xacro"),
            "description_root": "mine_base",
        }
        ways: dict[str, tuple[str, dict[str, Any]]] = {
            "bare": ("PSM1", {"prefix": "none"}),
            "renamed": ("PSM1", {"prefix": "left_", "tf_rate": 10.0}),
            "mine": ("PSM1", mine),
            "mine_based": ("PSM1", {**mine, "join": "base"}),
            "mine_alone": ("PSM1", {**mine, "join": "none"}),
            "foreign": ("ECM", ecm),
            "si": ("PSM1", {"generation": "Si", "instrument": "420006"}),
        }
        run(simulated_arms(list(POSTURES), rate=RATE_HZ, tf_rate=RATE_HZ))
        self.bridges = {
            name: run(bridge_process(name, arm, rate=RATE_HZ, **parameters))
            for name, (arm, parameters) in ways.items()
        }
        self.shows = {name: Observer(node, arm, name) for name, (arm, _) in ways.items()}
        for arm, q in POSTURES.items():
            client = ArmClient(node, arm, durable=True)
            client.hear("operating_state", "status", "warning", "error", "goal_reached")
            client.wait("operating_state", lambda c=client: c.heard["operating_state"])
            client.enable()
            client.home()
            client.move_joints("move_jp", q)

    def one(self, name: str, link: str) -> tuple[Any, Any]:
        """What a bridge shows now: all frames, and the measured_js of the same stamp."""
        observer = self.shows[name]
        state, measured = observer.pairs(1, link)[-1]
        return observer.frames.buffer(stamp_to_ns(state.header.stamp)), measured


@pytest.fixture(scope="module")
def lab(run: Any, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(run, node, tmp_path_factory.mktemp("descriptions"))


@pytest.mark.parametrize(("name", "prefix"), [("bare", ""), ("renamed", "left_")])
def test_a_prefix_names_every_link_and_its_base_is_the_arms(
    lab: Lab, name: str, prefix: str
) -> None:
    buffer, measured = lab.one(name, f"{prefix}yaw_link")
    frames = load_arm("PSM").frames(np.array(measured.position), 0.0)
    robot = URDF.from_xml_string(lab.shows[name].description())
    # The description has the ends of the cut loops besides.
    assert {link.name for link in robot.links} >= {f"{prefix}{link}" for link in frames}
    for link, T in frames.items():
        found = find_pose(buffer, "PSM1_base", f"{prefix}{link}")
        np.testing.assert_allclose(found, T, atol=TOL, err_msg=link)


def test_tf_rate_bounds_how_often_links_are_sent(lab: Lab) -> None:
    """10 Hz of 50: joint_states still come with every state of the arm."""
    observer = lab.shows["renamed"]
    before = max(observer.joint_states)
    until(lambda: len([s for s in list(observer.joint_states) if s > before]) > 100, "states")
    stamps = sorted(s for s in observer.frames.stamps("left_yaw_link") if s > before)
    spacing = np.diff(stamps) * 1e-9
    assert len(stamps) > 5 and spacing.min() > 0.089
    assert len(stamps) < 0.4 * len([s for s in list(observer.joint_states) if s > before])


def test_robot_description_is_latched_and_can_be_parsed(lab: Lab) -> None:
    for name in ("bare", "renamed", "mine", "foreign"):
        robot = URDF.from_xml_string(lab.shows[name].description())
        assert robot.get_root() and len(robot.joints) > 5


def test_an_arm_without_a_urdf_shows_the_links_of_its_model(lab: Lab) -> None:
    buffer, measured = lab.one("si", "PSM1_yaw_link")
    arm = load_arm("PSM", "420006", generation="Si")
    state = lab.shows["si"].pairs(1)[0][0]
    assert list(state.name) == [*arm.joint_names, "jaw"]
    for link, T in arm.frames(np.array(measured.position), 0.0).items():
        found = find_pose(buffer, "PSM1_base", f"PSM1_{link}")
        np.testing.assert_allclose(found, T, atol=TOL, err_msg=link)
    assert not lab.shows["si"].descriptions


def test_a_users_xacro_is_joined_below_the_arms_base(lab: Lab) -> None:
    """Its own root, a table, is where it must be for its remote centre to be the arm's."""
    buffer, measured = lab.one("mine", "mine_yaw_link")
    frames = load_arm("PSM").frames(np.array(measured.position), 0.0)
    for link, T in frames.items():
        found = find_pose(buffer, "PSM1_base", f"mine_{link}")
        np.testing.assert_allclose(found, T, atol=TOL, err_msg=link)
    fixed = lab.shows["mine"].frames.fixed()
    assert fixed["table"].parent == "PSM1_base" and "PSM1_base" not in fixed


def test_the_arms_base_can_hang_on_the_users_tree_instead(lab: Lab) -> None:
    buffer, measured = lab.one("mine_based", "mine_yaw_link")
    tip = load_arm("PSM").forward(np.array(measured.position))
    np.testing.assert_allclose(find_pose(buffer, "PSM1_base", "mine_tip"), tip, atol=TOL)
    fixed = lab.shows["mine_based"].frames.fixed()
    assert fixed["PSM1_base"].parent == "mine_base" and "table" not in fixed


def test_a_users_tree_can_stay_alone(lab: Lab) -> None:
    buffer, _ = lab.one("mine_alone", "mine_yaw_link")
    assert "PSM1_base" not in buffer.frames and "table" in buffer.frames


def test_a_urdf_with_other_signs_and_another_root_follows_the_controller(lab: Lab) -> None:
    buffer, measured = lab.one("foreign", "yaw_link")
    T_root = se3.make(so3.rot_z(ECM_TURN), [0.0, 0.0, 0.0])
    signs = {"yaw": -1.0, "roll": -1.0}
    urdf = parse_urdf(ecm_text(), "ecm.urdf", signs, "RCM", T_root)
    links = LinkTree(urdf.links, urdf.joint_names).frames(np.array(measured.position))
    assert len(links) == len(ECM_ROWS) + 2
    for link, T in links.items():
        found = find_pose(buffer, "ECM_base", link)
        np.testing.assert_allclose(found, T, atol=TOL, err_msg=link)
    state = lab.shows["foreign"].pairs(1)[0][0]
    shown = dict(zip(state.name, state.position, strict=True))
    yaw, pitch, insertion, roll = measured.position
    assert shown == {
        "yaw": -yaw,
        "pitch": pitch,
        "bar": -pitch,
        "insertion": insertion,
        "roll": -roll,
    }


def test_a_urdf_that_allows_more_than_the_arm_is_told_once(lab: Lab) -> None:
    """MoveIt plans within the URDF's limits, and would learn of it by refusals."""
    (told,) = [line for line in lab.bridges["foreign"].output.splitlines() if "more than" in line]
    assert "the description allows more than ECM does, and goals beyond that are refused" in told
    ecm = load_arm("ECM").model.joints
    for joint in ecm:
        lower, upper, velocity = joint.lower, joint.upper, joint.velocity
        assert f"{joint.name} -3 to 3 (arm: {lower:g} to {upper:g})" in told
        assert (f"velocity 1 (arm: velocity {velocity:g})" in told) == (velocity < 1.0)
    for name in lab.bridges.keys() - {"foreign"}:
        assert "more than" not in lab.bridges[name].output
