"""Libraries in their own folder, which precede those of the environment."""

from __future__ import annotations

import shutil
from pathlib import Path

from bootstrap.clone import Clone
from bootstrap.environment import ensure_venv, pip_environ
from bootstrap.lock import hold_lock
from bootstrap.stamps import digest_files, read_stamp, remove_stamp, write_stamp
from bootstrap.steps import run_step

__all__ = ["ensure_side_folder"]


def ensure_side_folder(clone: Clone, purpose: str) -> Path:
    """Make sure that a purpose's libraries exist, next to the environment's own versions.

    Args:
        clone: The clone.
        purpose: A file in requirements/.

    Returns:
        The folder, for the front of PYTHONPATH.

    Raises:
        Problem: If they cannot be installed.
    """
    python = ensure_venv(clone)
    folder = clone.work / clone.flavour / purpose
    file = clone.requirements(purpose)
    # Made for one interpreter: the identity of the environment goes into the stamp.
    identity = read_stamp(clone.venv).get("identity")
    wanted = {"digest": digest_files([file], clone.root), "identity": identity}
    if read_stamp(folder) != wanted:
        with hold_lock(clone.work / "lock") as lock:
            if read_stamp(folder) != wanted:
                remove_stamp(folder)
                shutil.rmtree(folder, ignore_errors=True)
                run_step(
                    f"install {purpose}",
                    [
                        str(python),
                        "-m",
                        "pip",
                        "install",
                        "--target",
                        str(folder),
                        "-r",
                        str(file),
                    ],
                    clone.logs / f"install-{purpose}.log",
                    pip_environ(clone),
                    clone.root,
                    lock,
                )
                write_stamp(folder, wanted)
    return folder
