"""The RViz view of a system: a file from config/rviz with the names of the system's arms."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from rclpy.logging import get_logging_directory

from dvrk_kinematics.models.model_files import find_models_dir
from dvrk_kinematics.ros.recorder.topics import resolve

__all__ = ["make_view", "write_view"]

_SHOWN = "PSM1"
"""The arm whose names appear in arm.rviz."""


def write_view(
    arms: Sequence[str], prefix: str, namespace: str = "", has_setup_joints: bool = False
) -> Path:
    """Write the file for a system to the log folder; the same system has the same file.

    Args:
        arms: The arms.
        prefix: Prefix of links on tf; ``{arm}`` stands for the arm's name.
        namespace: Where the arms' names begin; "" for the root.
        has_setup_joints: Whether they stand on a cart.

    Returns:
        The file.
    """
    view = make_view(arms, prefix, namespace, has_setup_joints)
    text = yaml.safe_dump(view, sort_keys=False)
    folder = Path(get_logging_directory())
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"view_{hashlib.sha256(text.encode()).hexdigest()[:8]}.rviz"
    file.write_text(text, encoding="utf-8")
    return file


def make_view(
    arms: Sequence[str], prefix: str, namespace: str = "", has_setup_joints: bool = False
) -> dict[str, Any]:
    """Make the text that RViz reads for a system; arguments as in :func:`write_view`."""
    name = "cart.rviz" if has_setup_joints else "arm.rviz"
    file = find_models_dir().parent / "rviz" / name
    view: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    manager = view["Visualization Manager"]
    if not has_setup_joints:
        displays = manager["Displays"]
        # The camera and the fixed frame are those of the first arm; each arm has its displays.
        view = _rename(view, _names(arms[0], prefix))
        manager = view["Visualization Manager"]
        manager["Displays"] = [
            shown for display in displays for shown in _for_each(display, arms, prefix)
        ]
    for display in manager["Displays"]:
        for key in ("Description Topic", "Topic"):
            if key in display:
                display[key]["Value"] = resolve(display[key]["Value"], namespace)
    return view


def _for_each(display: Any, arms: Sequence[str], prefix: str) -> list[Any]:
    """Copy a display that names the arm for each arm; return any other display once."""
    is_about_arm = _rename(display, dict.fromkeys(_names(_SHOWN, prefix), "")) != display
    return [_rename(display, _names(arm, prefix)) for arm in arms] if is_about_arm else [display]


def _names(arm: str, prefix: str) -> dict[str, str]:
    """Map the names in arm.rviz to those of an arm."""
    return {
        _SHOWN: arm,
        f"/{_SHOWN}1": f"/{arm}1",
        f"{_SHOWN}/robot_description": f"{arm}/robot_description",
        f"{_SHOWN} not homed": f"{arm} not homed",
        f"bridge/{_SHOWN}/not_homed": f"bridge/{arm}/not_homed",
        # The dVRK's own frame, whatever the prefix of the links.
        f"{_SHOWN}_base": f"{arm}_base",
        f"{_SHOWN}_tip": f"{prefix.replace('{arm}', arm)}tip",
    }


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    """Return a copy with all names replaced."""
    if isinstance(value, dict):
        return {key: _rename(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rename(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value
