"""The real ros2 command with this package installed, where launch is to be had.

launch, launch_ros and ros2cli are part of a sourced ROS 2. Elsewhere the variable DVRK_ROS_TOOLS
names a prefix in which they are installed, for the Python that runs the tests.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = os.environ.get("DVRK_ROS_TOOLS", "")


def packages_below(prefix: Path) -> Path:
    """Where a prefix has its Python packages."""
    scheme = {"base": str(prefix), "platbase": str(prefix)}
    return Path(sysconfig.get_path("purelib", "posix_prefix", vars=scheme))


if TOOLS:
    # Behind all others: only what is not there already is taken from it.
    sys.path.append(str(packages_below(Path(TOOLS))))

HAS_LAUNCH = all(importlib.util.find_spec(name) for name in ("launch", "launch_ros", "ros2launch"))


def install(prefix: Path) -> dict[str, str]:
    """Install this package into a prefix as colcon does; gives the environment to use it in."""
    build = prefix / "build"
    build.mkdir(parents=True)
    subprocess.run(
        [
            *(sys.executable, "setup.py", "-q"),
            *("build", "--build-base", str(build), "egg_info", "--egg-base", str(build)),
            *("install", "--prefix", str(prefix), "--single-version-externally-managed"),
            *("--record", str(build / "files.txt")),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        check=True,
    )
    return _environ(prefix)


def _environ(prefix: Path) -> dict[str, str]:
    tools = [Path(TOOLS)] if TOOLS else []
    first = {
        "AMENT_PREFIX_PATH": [prefix, *tools],
        "PYTHONPATH": [packages_below(prefix)],
        "PATH": [folder / "bin" for folder in tools],
    }
    environ = dict(os.environ)
    for name, folders in first.items():
        known = environ.get(name, "").split(":")
        environ[name] = ":".join([*map(str, folders), *filter(None, known)])
    environ["PYTHONPATH"] += "".join(f":{packages_below(folder)}" for folder in tools)
    return environ


def launch_command(file: str, *arguments: str) -> list[str]:
    """The command that starts one of the launch files."""
    return ["ros2", "launch", "dvrk_kinematics", file, *arguments]


def without_colour(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment in which log lines carry no escape codes."""
    return {**environ, "RCUTILS_COLORIZED_OUTPUT": "0"}
