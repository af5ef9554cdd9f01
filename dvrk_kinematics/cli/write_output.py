"""Writes a file that a user requested, completely or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dvrk_kinematics.errors import OutputError

__all__ = ["write_output"]


def write_output(file: Path, data: bytes) -> None:
    """Write a file; create its folder if necessary.

    An older file with that name stays as it was until the new one is complete.

    Raises:
        OutputError: If it cannot be written, with the reason.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not file.is_file():
            # A device such as /dev/stdout, or a folder, which fails to open.
            file.write_bytes(data)
            return
        # Write to the target of a link: the link itself stays.
        _replace(Path(os.path.realpath(file)), data)
    except OSError as error:
        raise OutputError(str(file), error.strerror or str(error)) from error
    except ValueError as error:
        # A name that no file can have.
        raise OutputError(str(file), str(error)) from error


def _replace(file: Path, data: bytes) -> None:
    number, part = tempfile.mkstemp(prefix=".", suffix=".part", dir=file.parent)
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(part).chmod(0o666 & ~mask)
        Path(part).replace(file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
