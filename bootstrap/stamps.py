"""Stamps: a small file that states a folder's sources, written only when it is complete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["digest_files", "read_stamp", "remove_stamp", "write_stamp"]

_NAME = "dvrk-stamp.json"


def read_stamp(folder: Path) -> dict[str, Any]:
    """The recorded sources of a folder; empty if it is not complete."""
    try:
        stamp = json.loads((folder / _NAME).read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(folder: Path, stamp: dict[str, Any]) -> None:
    """Declare a folder complete. The rename makes it all or nothing."""
    draft = folder / f"{_NAME}.new"
    draft.write_text(json.dumps(stamp, indent=1, sort_keys=True))
    draft.replace(folder / _NAME)


def remove_stamp(folder: Path) -> None:
    """Declare a folder in the making: an interruption from here on leaves it distrusted."""
    (folder / _NAME).unlink(missing_ok=True)


def digest_files(files: Iterable[Path], root: Path) -> str:
    """Digest of names and contents."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file.relative_to(root)).encode() + b"\0")
        digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()
