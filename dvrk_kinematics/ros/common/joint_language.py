"""How clients that send goals name an arm's joints and choose their signs.

A bridge that uses a custom URDF speaks that URDF's language everywhere: in joint_states, goals,
feedback, tolerances and jogs. A client that knows only the controller, such as the trajectory
server, shows this in the joint names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dvrk_kinematics.driver.reasons import Finding
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.urdf.urdf_joint import Mimic

__all__ = ["CONTROLLER", "JointLanguage", "controller_language", "description_language"]

CONTROLLER = "controller/"
"""Prefix of joint names in a goal that uses the signs of the arm's controller."""


@dataclass(frozen=True, slots=True)
class JointLanguage:
    """Names and signs of an arm's joints.

    Attributes:
        names: The joints, in the arm's order.
        signs: 1 where a joint has the controller's sign and -1 where it has the opposite one,
            shape (n,).
    """

    names: tuple[str, ...]
    signs: Array

    def convert(self, values: Array | None) -> Array | None:
        """Convert positions, velocities or accelerations (..., n) from or to the controller's."""
        return None if values is None else values * self.signs

    def explain(self, finding: Finding, joints: Sequence[str]) -> Finding:
        """State in a finding that its numbers are the controller's, where that matters.

        Args:
            finding: The finding.
            joints: The controller's joints, in the arm's order.
        """
        if finding.value is None or finding.joint not in joints:
            return finding
        if self.signs[list(joints).index(finding.joint)] > 0.0:
            return finding
        note = "counted as the controller does, against the description"
        return replace(finding, detail=f"{finding.detail}; {note}" if finding.detail else note)


def controller_language(joints: Sequence[str]) -> JointLanguage:
    """Make the language of an arm's controller, for its joints."""
    names = tuple(f"{CONTROLLER}{name}" for name in joints)
    return JointLanguage(names, frozen(np.ones(len(names))))


def description_language(
    joints: Sequence[str], prefix: str, movable: Mapping[str, Mimic]
) -> JointLanguage:
    """Make the language of a description.

    Args:
        joints: The controller's joints, in the arm's order.
        prefix: Prefix of their names.
        movable: How the description's joints follow the controller's, by name.
    """
    names = tuple(f"{prefix}{name}" for name in joints)
    signs = [movable[name].multiplier if name in movable else 1.0 for name in names]
    return JointLanguage(names, frozen(np.array(signs)))
