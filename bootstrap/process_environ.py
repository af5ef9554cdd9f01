"""The environment in which commands and nodes run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.clone import WHEELS, Clone

__all__ = ["make_environ"]

_PROFILES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
"""Where Fast DDS looks for its settings, by its new and its old name."""


def make_environ(
    clone: Clone, prefixes: Sequence[Path], environ: Mapping[str, str]
) -> dict[str, str]:
    """Build the environment of a process that uses ROS 2.

    Without a sourced ROS 2, discovery stays on this machine unless the user says otherwise. With
    one, domain, discovery range and RMW are the user's own and stay as they are.

    Args:
        clone: The clone.
        prefixes: Install prefixes of the interface packages built here.
        environ: The user's environment.
    """
    made = dict(environ)
    if clone.uses_wheels:
        # A ROS of another kind, such as a sourced ROS 1, would hide the wheels' packages.
        entries = environ.get("PYTHONPATH", "").split(":")
        made["PYTHONPATH"] = ":".join(e for e in entries if not Path(e, "std_msgs").exists())
    site = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    _put_first(made, "PYTHONPATH", [clone.root, *(prefix / site for prefix in prefixes)])
    _put_first(made, "LD_LIBRARY_PATH", [prefix / "lib" for prefix in prefixes])
    _put_first(made, "PATH", [clone.venv / "bin"])
    if clone.uses_wheels:
        made["AMENT_PREFIX_PATH"] = ""
        _put_first(made, "AMENT_PREFIX_PATH", [*prefixes, clone.venv])
        # The wheels complete the library path at start-up, unless told that it was done already.
        made.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None)
        made |= {
            "ROS_VERSION": "2",
            "ROS_PYTHON_VERSION": "3",
            "ROS_DISTRO": "jazzy",
            "DVRK_ROS": WHEELS,
            # Bytecode lies in the ignored folder, also where the user wants none beside sources:
            # a node that compiles all that it imports takes twice as long to start.
            "PYTHONPYCACHEPREFIX": str(clone.bytecode),
        }
        made.pop("PYTHONDONTWRITEBYTECODE", None)
        made.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        if not any(name in environ for name in _PROFILES):
            profiles = str(clone.root / "config" / "fastdds" / "discovery.xml")
            made |= dict.fromkeys(_PROFILES, profiles)
    else:
        _put_first(made, "AMENT_PREFIX_PATH", prefixes)
    made.setdefault("ROS_HOME", str(clone.work / "ros"))
    made.setdefault("ROS_LOG_DIR", str(clone.logs / "ros"))
    return made


def _put_first(environ: dict[str, str], name: str, entries: Sequence[Path]) -> None:
    """Put entries in front of a search path, each once."""
    first = [str(entry) for entry in entries]
    rest = [entry for entry in environ.get(name, "").split(":") if entry and entry not in first]
    environ[name] = ":".join([*first, *rest])
