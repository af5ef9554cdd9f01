"""Checks a YAML parameter file before nodes get it: otherwise each would fail on its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from dvrk_kinematics.errors import InvalidInput

__all__ = ["check_params_file"]

_MARK = "ros__parameters"


def check_params_file(name: str) -> None:
    """Refuse a file that the nodes could not read.

    Args:
        name: Path of the file.

    Raises:
        InvalidInput: There is no such file, it is not YAML, or a node's parameters are not where
            ROS 2 expects them.
    """
    try:
        content = yaml.safe_load(Path(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput("params_file", f"{name} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("params_file", f"{name} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        text = " ".join(str(error).split())
        raise InvalidInput("params_file", f"{name} is not YAML: {text}") from None
    place = _find_misplaced(content, "")
    if place is not None:
        where = f"at {place!r}" if place else "at its start"
        raise InvalidInput(
            "params_file",
            f"{name} has no {_MARK} {where}; a node's parameters stand in "
            f"{{NODE: {{{_MARK}: {{NAME: VALUE}}}}}}, with /** for all nodes",
        )


def _find_misplaced(content: Any, place: str) -> str | None:
    """Find an entry that does not belong to the parameters of a node; None if there is none."""
    if not isinstance(content, dict):
        return place
    for key, value in content.items():
        if key == _MARK and place:
            if not isinstance(value, dict):
                return place
            continue
        misplaced = _find_misplaced(value, f"{place}/{key}" if place else str(key))
        if misplaced is not None:
            return misplaced
    return None
