"""Links in their parents, against the poses of all links in the base."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.kinematics.link_transforms import LinkTransforms

ARMS = [
    ("PSM", "400006"),
    ("PSM", "400117"),
    ("PSM", "CAUDIER"),
    ("ECM", None),
    ("SUJ_PSM1", None),
]


@pytest.mark.parametrize(("name", "instrument"), ARMS)
def test_links_in_their_parents_make_up_frames(name: str, instrument: str | None, rng) -> None:
    arm = load_arm(name, instrument)
    jaw = () if arm.jaw is None else (arm.jaw.name,)
    transforms = LinkTransforms(arm.model.links, (*arm.joint_names, *jaw))
    links = {link.name for link in arm.model.links if link.parent is not None}
    fixed = {transform.child for transform in transforms.fixed}
    assert {child for _, child in transforms.moving} | fixed == links
    for _ in range(20):
        q = arm.random_q(rng)
        opening = [0.3] * len(jaw)
        frames = arm.frames(q, *opening)
        rows = transforms.numbers(np.array([*q, *opening]))
        for (parent, child), row in zip(transforms.moving, rows, strict=True):
            expected = se3.inverse(frames[parent]) @ frames[child]
            np.testing.assert_allclose(row[:3], expected[:3, 3], atol=1e-14)
            assert so3.angle_between(so3.from_quaternion(row[3:]), expected[:3, :3]) < 1e-7
            assert abs(np.linalg.norm(row[3:]) - 1.0) < 1e-14
        for parent, child, T in transforms.fixed:
            np.testing.assert_allclose(frames[parent] @ T, frames[child], atol=1e-14)


def test_a_joint_that_nobody_gives_is_refused() -> None:
    arm = load_arm("ECM")
    with pytest.raises(UnknownName, match="roll"):
        LinkTransforms(arm.model.links, ("yaw", "pitch", "insertion"))
