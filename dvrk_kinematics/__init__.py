"""Exact kinematics, Cartesian motion and ROS 2 nodes for the da Vinci Research Kit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dvrk_kinematics.kinematics.arm import Arm, load_arm

__all__ = ["Arm", "__version__", "load_arm"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imports the kinematics when they are first asked for, so that importing this is cheap."""
    if name in ("Arm", "load_arm"):
        from dvrk_kinematics.kinematics import arm

        return getattr(arm, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
