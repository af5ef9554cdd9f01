"""The arms that can be started by name: those of the cart, and every serial arm of the models."""

from __future__ import annotations

from typing import Final

from dvrk_kinematics.models.load_model import arm_names, load_model

__all__ = ["ARMS", "CART"]

CART: Final = ("PSM1", "PSM2", "PSM3", "ECM")
ARMS: Final = (*CART, *(name for name in arm_names() if load_model(name).kind == "ARM"))
