"""Every body has a mass that a body can have, a collision solid and a colour."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dvrk_kinematics.models.load_model import load_model
from dvrk_kinematics.models.urdf.solids import Shape, read_solids
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf

FILES = ["psm", "ecm", "suj", "patient_cart", "rvm1", "cyber310"]


@pytest.mark.parametrize("name", FILES)
def test_every_body_has_mass_and_collision(name: str, expanded: Any) -> None:
    """A body moves or can be seen; what is left are frames, fixed to a body."""
    root = ElementTree.fromstring(expanded(name))
    moved = {j.find("child").get("link") for j in root.iter("joint") if j.get("type") != "fixed"}  # type: ignore[union-attr]
    for link in root.iter("link"):
        body = link.get("name") in moved or link.find("visual") is not None
        for part in ("inertial", "visual", "collision"):
            assert (link.find(part) is not None) == body, f"{link.get('name')}: {part}"


@pytest.mark.parametrize("name", FILES)
def test_masses_are_those_of_bodies(name: str, expanded: Any) -> None:
    for link in parse_urdf(expanded(name)).links:
        if link.inertial is not None:
            moments = np.linalg.eigvalsh(link.inertial.inertia)
            assert link.inertial.mass > 0.0, link.name
            assert moments[0] > 0.0, link.name
            assert moments[0] + moments[1] >= moments[2], link.name


@pytest.mark.parametrize(
    ("arm", "model", "instrument"),
    [
        ("PSM1", "PSM", None),
        ("PSM1", "PSM", "400117"),
        ("ECM", "ECM", None),
        ("SUJ_PSM3", "SUJ_PSM3", None),
        ("SUJ_ECM", "SUJ_ECM", None),
        ("RVM1", "RVM1", None),
        ("CYBER310", "CYBER310", None),
    ],
)
def test_masses_are_those_of_the_model(
    arm: str, model: str, instrument: str | None, described: Any
) -> None:
    text = described(arm, **({"instrument": instrument} if instrument else {}))
    found = {link.name: link.inertial for link in parse_urdf(text).links}
    for link in load_model(model, instrument).links:
        body = found[f"{arm}_{link.name}"]
        assert (body is None) == (link.inertial is None), link.name
        if body is not None and link.inertial is not None:
            assert body.mass == link.inertial.mass
            assert np.array_equal(body.com, link.inertial.com)
            assert np.array_equal(body.inertia, link.inertial.inertia)


def test_the_cart_weighs_what_its_parts_weigh(expanded: Any) -> None:
    links = parse_urdf(expanded("patient_cart")).links
    mass = sum(link.inertial.mass for link in links if link.inertial is not None)
    assert 350.0 < mass < 450.0


@pytest.mark.parametrize("name", [*FILES, "torso_scene"])
def test_solids_have_size_and_colour(name: str, expanded: Any) -> None:
    text = expanded(name)
    root = ElementTree.fromstring(text)
    materials = [m.get("name") for m in root.findall("material")]
    assert len(materials) == len(set(materials))
    for visual in root.iter("visual"):
        material = visual.find("material")
        assert material is not None and material.get("name") in materials
    solids = read_solids(text)
    assert {solid.shape for solid in solids} >= {Shape.BOX, Shape.CYLINDER}
    for solid in solids:
        assert min(solid.size) > 0.0, solid.link
        assert len(solid.rgba) == 4


def test_the_parts_of_a_psm_are_there(expanded: Any) -> None:
    """Whoever knows the arm looks for these."""
    seen = {solid.link.removeprefix("PSM1_") for solid in read_solids(expanded("psm"))}
    assert seen >= {
        "mount_link",
        "yaw_link",
        "pitch_back_link",
        "pitch_front_link",
        "pitch_bottom_link",
        "pitch_top_link",
        "pitch_end_link",
        "insertion_link",
        "counterweight_link",
        "adaptor_link",
        "wrist_pitch_link",
        "wrist_yaw_link",
        "jaw_left_link",
        "jaw_right_link",
    }
