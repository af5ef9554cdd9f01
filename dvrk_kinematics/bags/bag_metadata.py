"""The usable content of a bag's metadata.yaml."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import yaml

from dvrk_kinematics.errors import BagError, shorten

__all__ = ["FILE_NAME", "ROOT", "BagMetadata", "read_metadata"]

FILE_NAME = "metadata.yaml"
_LARGEST = 2**20
"""Largest size of the file (bytes); a bag of a hundred topics has some 60 kB."""

ROOT = "rosbag2_bagfile_information"
"""The top-level key of the content."""


@dataclass(frozen=True, slots=True)
class BagMetadata:
    """The data needed to read a bag.

    Attributes:
        files: Names of the files with messages.
        is_plain_mcap: Whether these are MCAP, with neither the files nor the messages packed.
        lost: How many messages of each topic our recorder knows to be missing; None where it
            does not know.
        complaint: The part that could not be used; "" if all could.
    """

    files: tuple[str, ...]
    is_plain_mcap: bool
    lost: dict[str, int | None] = field(default_factory=dict)
    complaint: str = ""


def read_metadata(folder: Path) -> BagMetadata:
    """Read metadata.yaml.

    Raises:
        BagError: If it cannot be read, or does not name the files of the bag.
    """
    root = _read(folder / FILE_NAME)
    names = root.get("relative_file_paths")
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise BagError(str(folder), f"{FILE_NAME} does not list the files of the bag")
    is_packed = root.get("compression_mode") not in (None, "", "none", "NONE")
    lost, complaint = _read_losses(root.get("custom_data"))
    return BagMetadata(
        # Only its own files: a path could lead anywhere.
        files=tuple(PurePath(name).name for name in names),
        is_plain_mcap=root.get("storage_identifier") == "mcap" and not is_packed,
        lost=lost,
        complaint=complaint,
    )


def _read(file: Path) -> dict[str, Any]:
    bag = str(file.parent)
    try:
        if file.stat().st_size > _LARGEST:
            raise BagError(bag, f"{FILE_NAME} has more than {_LARGEST} bytes")
        # Use the Python parser: the C parser ends the process if a file is nested too deeply.
        root = yaml.load(file.read_text(encoding="utf-8"), yaml.SafeLoader)
    except OSError as error:
        raise BagError(bag, f"{FILE_NAME} cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise BagError(bag, f"{FILE_NAME} is nested too deep") from error
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        # Impossible dates and numbers raise errors of Python, not of the parser.
        words = shorten(" ".join(str(error).split()))
        raise BagError(bag, f"{FILE_NAME} is no valid YAML: {words}") from error
    found = root.get(ROOT) if isinstance(root, dict) else None
    if not isinstance(found, dict):
        raise BagError(bag, f"{FILE_NAME} has no {ROOT}")
    return found


def _read_losses(noted: Any) -> tuple[dict[str, int | None], str]:
    """The losses that our recorder noted; rosbag2 notes none."""
    text = noted.get("lost", "{}") if isinstance(noted, dict) else "{}"
    if noted is not None and not isinstance(noted, dict):
        return {}, f"custom_data in {FILE_NAME} is no mapping"
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        return {}, f"what {FILE_NAME} says of losses is no JSON: {error}"
    if not isinstance(found, dict) or not all(_is_count(count) for count in found.values()):
        return {}, f"what {FILE_NAME} says of losses are not numbers of messages by topic"
    return found, ""


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value < 2**63)
