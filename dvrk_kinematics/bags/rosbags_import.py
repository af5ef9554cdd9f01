"""Imports a part of rosbags, or explains how to install it."""

from __future__ import annotations

import importlib
from typing import Any

from dvrk_kinematics.errors import MissingExtra

__all__ = ["rosbags_import"]


def rosbags_import(module: str) -> Any:
    """Import a module of rosbags when it is needed.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            "rosbags", "install requirements/bags.txt, or start with ./dvrk report"
        ) from error
