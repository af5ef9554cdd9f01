"""Shoulder and elbow that move a wrist in a plane: two links, two solutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.tolerances import SINGULAR

__all__ = ["PlanarElbow"]

FloatArray = npt.NDArray[np.float64]

_STRAIGHT = 5e-15
"""Cosines of the elbow closer than this to 1 or -1 are set to it.

The arc cosine turns rounding of 1e-16 into an angle of 1e-8 rad there, which the other joints
would have to compensate for; the wrist is less than 1e-15 m out of place.
"""


class PlanarElbow(NamedTuple):
    """Two links with parallel axes.

    Angles count from x towards z of the plane: the shoulder's from the x axis, the elbow's from
    the straight arm. An elbow angle below 0 lies above the line from shoulder to wrist, seen with
    the wrist at positive x.

    Attributes:
        upper: Length from shoulder to elbow (m).
        fore: Length from elbow to wrist (m).
    """

    upper: float
    fore: float

    @property
    def reach(self) -> tuple[float, float]:
        """Smallest and largest distance between shoulder and wrist (m)."""
        return abs(self.upper - self.fore), self.upper + self.fore

    def angles(self, x: FloatArray, z: FloatArray, side: float) -> tuple[FloatArray, FloatArray]:
        """Return shoulder and elbow for a wrist in the plane.

        For a wrist that is too far, the arm points at it straight; for one too near, folded: the
        nearest that the arm can come.

        Args:
            x: Position of the wrist from the shoulder (m), shape (N,).
            z: As x.
            side: -1 for the elbow below 0, +1 for the one above.

        Returns:
            Shoulder and elbow (rad), shape (N,) each.
        """
        square = x * x + z * z - self.upper**2 - self.fore**2
        cosine = np.clip(square / (2.0 * self.upper * self.fore), -1.0, 1.0)
        cosine = np.where(1.0 - np.abs(cosine) < _STRAIGHT, np.sign(cosine), cosine)
        elbow = side * np.arccos(cosine)
        across, along = self.fore * np.sin(elbow), self.upper + self.fore * np.cos(elbow)
        return np.arctan2(z, x) - np.arctan2(across, along), elbow

    def why_not(self, distance: float) -> str:
        """Explain why a wrist at a distance from the shoulder (m) cannot be reached."""
        near, far = self.reach
        missed = (distance - far, "far") if distance > far else (near - distance, "near")
        return (
            f"the wrist would have to be {distance:.4f} m from the shoulder, "
            f"which reaches from {near:.4f} to {far:.4f} m: {missed[0]:.3g} m too {missed[1]}"
        )

    def singularities(self, elbow: float) -> tuple[str, ...]:
        """Name what is singular at an elbow's angle (rad): the wrist cannot move along the arm."""
        if abs(np.sin(elbow)) > SINGULAR:
            return ()
        return ("elbow straight",) if np.cos(elbow) > 0.0 else ("elbow folded",)
