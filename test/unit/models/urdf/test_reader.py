"""Any URDF becomes a tree of links: mimics followed, signs and root as told."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from urdf_text import joint_text, robot_text

from dvrk_kinematics.errors import InvalidInput, MissingExtra, ModelError, UnknownName
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.models.schema import JointKind
from dvrk_kinematics.models.urdf.solids import read_solids
from dvrk_kinematics.models.urdf.urdf_model import UrdfModel, parse_urdf


def _frames(urdf: UrdfModel, **positions: float) -> dict[str, np.ndarray]:
    q = np.array([positions.get(name, 0.0) for name in urdf.joint_names])
    return LinkTree(urdf.links, urdf.joint_names).frames(q)


def test_a_mimic_of_a_mimic_is_followed_to_the_joint_that_moves() -> None:
    urdf = parse_urdf(
        robot_text(
            # Listed before what they follow: order does not matter.
            joint_text("j3", "b", "d", '<mimic joint="j2" multiplier="3" offset="0.5"/>'),
            joint_text("j2", "b", "c", '<mimic joint="j1" multiplier="-2" offset="0.1"/>'),
            joint_text("j1", "a", "b", '<axis xyz="0 0 1"/>'),
        )
    )
    assert urdf.joint_names == ("j1",)
    links = {link.name: link for link in urdf.links}
    assert (links["c"].joint, links["c"].multiplier, links["c"].offset) == ("j1", -2.0, 0.1)
    assert links["d"].joint == "j1" and links["d"].multiplier == -6.0
    assert links["d"].offset == pytest.approx(0.8)
    found = _frames(urdf, j1=0.4)
    R = so3.rot_z(0.4) @ so3.rot_x(-6.0 * 0.4 + 0.8)
    assert np.allclose(found["d"][:3, :3], R, atol=1e-15)


OTHERS = {
    "no interface": "<transmission name='t'><joint name='j'/></transmission>",
    "no name": "<transmission/>",
    "two blocks of gazebo": "<gazebo reference='nowhere'><mu1>x</mu1></gazebo><gazebo/>",
    "ros2_control": "<ros2_control name='c' type='system'><joint name='k'/></ros2_control>",
    "a material with a bad colour": "<material name='m'><color rgba='red'/></material>",
    "a material twice": "<material name='m'/><material name='m'/>",
    "tags that nobody knows": "<magic link='a'/><x:other xmlns:x='urn:other'/>",
}


@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS)
def test_what_kinematics_does_not_need_is_not_judged(others: str) -> None:
    parts = '<axis xyz="0 0 1"/><dynamics damping="much"/><safety_controller/><calibration/><foo/>'
    text = robot_text(joint_text("j", "a", "b", parts), links="a b")
    urdf = parse_urdf(text.replace("</robot>", f"{others}</robot>"))
    assert urdf.joint_names == ("j",) and [link.name for link in urdf.links] == ["a", "b"]
    assert np.allclose(_frames(urdf, j=0.4)["b"][:3, :3], so3.rot_z(0.4), atol=1e-15)


SOLIDS = {
    "an unknown geometry": "<geometry><cone radius='1'/></geometry>",
    "no geometry": "",
    "a size that is not a number": "<geometry><box size='1 wide 1'/></geometry>",
    "a bad colour": "<geometry><sphere radius='1'/></geometry>"
    "<material name='m'><color rgba='red'/></material>",
}


@pytest.mark.parametrize("solid", SOLIDS.values(), ids=SOLIDS)
@pytest.mark.parametrize("part", ["visual", "collision"])
def test_what_a_link_looks_like_is_judged_by_those_who_show_it(part: str, solid: str) -> None:
    inertia = "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    inertial = f"<inertial><mass value='2'/>{inertia}</inertial>"
    link = f"<link name='a'><{part}>{solid}</{part}>{inertial}<foo/></link>"
    text = robot_text(joint_text("j", "a", "b", '<axis xyz="0 0 1"/>'), links="a b")
    text = text.replace('<link name="a"/>', link)
    urdf = parse_urdf(text)
    assert urdf.links[0].inertial is not None and urdf.links[0].inertial.mass == 2.0
    if part == "collision":
        assert read_solids(text) == ()


def test_a_prismatic_mimic_slides_along_its_own_axis() -> None:
    mimic = '<axis xyz="0 -1 0"/><mimic joint="lift" multiplier="0.5" offset="0.02"/>'
    urdf = parse_urdf(
        robot_text(
            joint_text("lift", "a", "b", '<axis xyz="0 0 1"/>', "prismatic"),
            joint_text("weight", "a", "c", mimic, "prismatic"),
            links="a b c",
        )
    )
    assert np.allclose(_frames(urdf, lift=0.3)["c"][:3, 3], [0.0, -0.17, 0.0])
    assert np.allclose(_frames(urdf, lift=0.3)["c"][:3, :3], np.eye(3), atol=1e-15)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, -1), (0.6, 0.0, 0.8)])
def test_a_joint_turns_about_any_axis(axis: tuple[float, float, float]) -> None:
    text = " ".join(map(str, axis))
    origin = '<origin xyz="1 2 3" rpy="0.1 -0.7 0.4"/>'
    urdf = parse_urdf(
        robot_text(joint_text("j", "a", "b", f'<axis xyz="{text}"/>{origin}'), links="a b")
    )
    R = so3.rot_z(0.4) @ so3.rot_y(-0.7) @ so3.rot_x(0.1) @ so3.exp(0.8 * np.array(axis))
    expected = se3.make(R, [1.0, 2.0, 3.0])
    assert np.allclose(_frames(urdf, j=0.8)["b"], expected, atol=1e-15)


def test_the_axis_is_x_if_none_is_given() -> None:
    urdf = parse_urdf(robot_text(joint_text("j", "a", "b"), links="a b"))
    assert np.allclose(_frames(urdf, j=0.3)["b"][:3, :3], so3.rot_x(0.3), atol=1e-15)


def test_kinds_and_limits_are_read() -> None:
    urdf = parse_urdf(
        robot_text(
            joint_text("j1", "a", "b"),
            joint_text("j2", "b", "c", kind="continuous"),
            joint_text("f", "c", "d", kind="fixed"),
        )
    )
    first, second = urdf.joints
    assert (first.lower, first.upper, first.velocity, first.effort) == (-1.0, 2.0, 3.0, 4.0)
    assert second.kind is JointKind.REVOLUTE and second.upper == np.inf
    assert urdf.links[-1].kind is JointKind.FIXED and urdf.links[-1].joint is None


def test_signs_turn_joints_their_limits_and_their_mimics() -> None:
    text = robot_text(
        joint_text("j1", "a", "b", '<axis xyz="0 0 1"/>'),
        joint_text("j2", "a", "c", '<axis xyz="0 0 1"/><mimic joint="j1" offset="0.2"/>'),
        links="a b c",
    )
    urdf = parse_urdf(text, signs={"j1": -1})
    assert (urdf.joints[0].lower, urdf.joints[0].upper) == (-2.0, 1.0)
    found = _frames(urdf, j1=0.5)
    assert np.allclose(found["b"][:3, :3], so3.rot_z(-0.5))
    assert np.allclose(found["c"][:3, :3], so3.rot_z(-0.5 + 0.2))
    with pytest.raises(UnknownName, match="valid: j1"):
        parse_urdf(text, signs={"j2": -1})
    with pytest.raises(InvalidInput, match="j1 must be 1 or -1, is 2"):
        parse_urdf(text, signs={"j1": 2})


def test_poses_are_counted_from_any_link_that_stands_still() -> None:
    text = robot_text(
        joint_text("f1", "a", "b", '<origin xyz="0 0 1"/>', "fixed"),
        joint_text("f2", "a", "c", '<origin xyz="2 0 0" rpy="0 0 1.5"/>', "fixed"),
        joint_text("j", "c", "d"),
    )
    T_root = se3.make(so3.rot_z(0.3), [0.1, 0.2, 0.3])
    found = _frames(parse_urdf(text, root="c", T_root=T_root), j=0.4)
    assert np.allclose(found["c"], T_root, atol=1e-15)
    plain = _frames(parse_urdf(text), j=0.4)
    expected = T_root @ se3.inverse(plain["c"]) @ plain["b"]
    assert np.allclose(found["b"], expected, atol=1e-15)
    with pytest.raises(ModelError, match="cannot be the root: d moves"):
        parse_urdf(text, root="d")
    with pytest.raises(UnknownName, match="valid: a, b, c, d"):
        parse_urdf(text, root="x")
    with pytest.raises(InvalidInput, match="T_root"):
        parse_urdf(text, T_root=2.0 * np.eye(4))


def test_masses_come_along() -> None:
    body = (
        '<link name="b"><inertial><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>'
        '<mass value="2"/><inertia ixx="1" iyy="2" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>'
        "</link>"
    )
    text = robot_text(joint_text("j", "a", "b"), links="a").replace("<joint", f"{body}<joint", 1)
    inertial = parse_urdf(text).links[1].inertial
    assert inertial is not None and inertial.mass == 2.0
    assert np.allclose(np.diag(inertial.inertia), [2.0, 1.0, 3.0])


def test_declared_encodings_and_foreign_tags_are_no_obstacle(
    capfd: pytest.CaptureFixture[str],
) -> None:
    text = robot_text(
        joint_text("j1", "a", "b"), "<ros2_control name='x'/>", "<gazebo/>", links="a b"
    )
    urdf = parse_urdf(f'<?xml version="1.0" encoding="utf-8"?>{text}')
    assert urdf.joint_names == ("j1",)
    assert capfd.readouterr().err == ""


def test_without_the_parser_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "urdf_parser_py", None)
    with pytest.raises(MissingExtra, match="install urdfdom-py"):
        parse_urdf(robot_text(joint_text("j1", "a", "b"), links="a b"))
