"""How those who send goals name and count an arm's joints.

A bridge that shows a URDF of a user's own speaks that URDF's language everywhere: in joint_states,
goals, feedback, tolerances and jogs. Whoever knows the controller only, as the trajectory server
does, says so in the names of the joints.
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
"""Where the name of a joint begins in a goal that counts as the arm's controller does."""


@dataclass(frozen=True, slots=True)
class JointLanguage:
    """Names and signs of an arm's joints.

    Attributes:
        names: The joints, in the arm's order.
        signs: 1 where a joint counts as the controller does and -1 where it counts against it,
            shape (n,).
    """

    names: tuple[str, ...]
    signs: Array

    def convert(self, values: Array | None) -> Array | None:
        """Positions, velocities or accelerations, shape (..., n): from the controller or to it."""
        return None if values is None else values * self.signs

    def explain(self, finding: Finding, joints: Sequence[str]) -> Finding:
        """Say in a finding that its numbers are the controller's, where that matters.

        Args:
            finding: What was found.
            joints: The controller's joints, in the arm's order.
        """
        if finding.value is None or finding.joint not in joints:
            return finding
        if self.signs[list(joints).index(finding.joint)] > 0.0:
            return finding
        note = "counted as the controller does, against the description"
        return replace(finding, detail=f"{finding.detail}; {note}" if finding.detail else note)


def controller_language(joints: Sequence[str]) -> JointLanguage:
    """The language of an arm's controller, for its joints."""
    names = tuple(f"{CONTROLLER}{name}" for name in joints)
    return JointLanguage(names, frozen(np.ones(len(names))))


def description_language(
    joints: Sequence[str], prefix: str, movable: Mapping[str, Mimic]
) -> JointLanguage:
    """The language of a description.

    Args:
        joints: The controller's joints, in the arm's order.
        prefix: What their names begin with.
        movable: How the description's joints follow the controller's, by their names.
    """
    names = tuple(f"{prefix}{name}" for name in joints)
    signs = [movable[name].multiplier if name in movable else 1.0 for name in names]
    return JointLanguage(names, frozen(np.array(signs)))
