"""Where things are in a clone, and which ROS 2 it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap.problems import Problem

__all__ = ["WHEELS", "Clone", "check_python", "detect_ros", "has_package"]

WHEELS = "wheels"
"""Flavour of a machine without ROS 2: everything comes from PyPI's wheels."""

_TOO_OLD = ("foxy", "galactic", "humble", "iron")


@dataclass(frozen=True)
class Clone:
    """Paths of one clone.

    Attributes:
        root: Folder of the clone.
        flavour: WHEELS, or the name of the ROS 2 distribution that is sourced.
    """

    root: Path
    flavour: str

    @property
    def uses_wheels(self) -> bool:
        """Whether ROS 2 comes from PyPI."""
        return self.flavour == WHEELS

    @property
    def work(self) -> Path:
        """Folder of everything that is generated and disposable, ignored by git."""
        return self.root / ".dvrk"

    @property
    def logs(self) -> Path:
        """Folder of the logs of steps and nodes."""
        return self.work / "log"

    @property
    def bytecode(self) -> Path:
        """Folder of the bytecode of all that commands import."""
        return self.work / "cache" / "bytecode"

    @property
    def venv(self) -> Path:
        """The virtual environment of this flavour."""
        return self.root / ".venv" if self.uses_wheels else self.work / self.flavour / "venv"

    @property
    def interfaces(self) -> Path:
        """Folder in which the interface packages of this flavour are built and installed."""
        return self.work / self.flavour / "interfaces"

    def requirements(self, purpose: str) -> Path:
        """The requirements file of a purpose."""
        return self.root / "requirements" / f"{purpose}.txt"


def detect_ros(environ: Mapping[str, str]) -> str:
    """Detect which ROS 2 the shell has sourced.

    Args:
        environ: The environment. DVRK_ROS marks one that ./dvrk itself has made.

    Returns:
        The distribution's name, or WHEELS if none is sourced.

    Raises:
        Problem: If the sourced distribution is too old.
    """
    distro = environ.get("ROS_DISTRO", "")
    if environ.get("DVRK_ROS") == WHEELS or not distro or not has_package(environ, "rclpy"):
        return WHEELS
    if distro in _TOO_OLD:
        raise Problem(
            f"ROS 2 {distro} is sourced, but Jazzy or newer is needed; "
            "source a newer one, or start from a shell without ROS 2"
        )
    return distro


def check_python(flavour: str, environ: Mapping[str, str], version: tuple[int, int]) -> None:
    """Refuse an interpreter that a sourced ROS 2 was not built for.

    Args:
        flavour: Result of detect_ros.
        environ: The environment.
        version: Major and minor version of the interpreter.

    Raises:
        Problem: If rclpy is installed for other versions only.
    """
    if flavour == WHEELS:
        return
    homes = [
        home
        for prefix in _prefixes(environ)
        for place in ("lib", "local/lib")
        for home in (prefix / place).glob("python3.*/*-packages/rclpy")
    ]
    built_for = sorted({home.parent.parent.name.removeprefix("python") for home in homes})
    mine = ".".join(map(str, version))
    if built_for and mine not in built_for:
        raise Problem(
            f"the sourced ROS 2 {flavour} is for Python {', '.join(built_for)}, and this is "
            f"{mine}; name the right one in DVRK_PYTHON"
        )


def _prefixes(environ: Mapping[str, str]) -> list[Path]:
    return [Path(entry) for entry in environ.get("AMENT_PREFIX_PATH", "").split(":") if entry]


def has_package(environ: Mapping[str, str], name: str) -> bool:
    """Whether a sourced ROS 2 has a package."""
    index = Path("share/ament_index/resource_index/packages", name)
    return any((prefix / index).exists() for prefix in _prefixes(environ))
