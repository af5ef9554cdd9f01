"""The URDF of an arm, a cart or a scene: this project's xacro files, expanded."""

from __future__ import annotations

import threading
from pathlib import Path
from xml.parsers.expat import ExpatError

from dvrk_kinematics.errors import MissingExtra, ModelError, UnknownName
from dvrk_kinematics.models import model_files as files

__all__ = ["describe", "expand", "urdf_files"]

_ENDING = ".urdf.xacro"
_HINT = "install xacro with pip, or ros-<distro>-xacro where ROS 2 is installed"
# xacro keeps the file it is reading in a global.
_XACRO = threading.Lock()


def _urdf_dir() -> Path:
    """The folder of the xacro files: beside config/, in a source tree and in share/."""
    return files.find_models_dir().parent.parent / "urdf"


def urdf_files() -> tuple[str, ...]:
    """Names of the descriptions: "psm", "ecm", "suj", "patient_cart", ..."""
    return tuple(sorted(path.name[: -len(_ENDING)] for path in _urdf_dir().glob(f"*{_ENDING}")))


def describe(arm: str, **arguments: str) -> str:
    """The URDF of an instance by its name.

    Args:
        arm: "PSM1", "ECM", "SUJ" (cart and all setup joints), "SUJ_PSM1", "RVM1", ...
        **arguments: Arguments of the xacro file, such as instrument="400117" or prefix="left_".

    Returns:
        The text of the URDF, with links prefixed by the arm's name by default.

    Raises:
        UnknownName: If the arm has no description.
        ModelError: If the arguments make no sense, or an Si arm is requested.
    """
    stem = "suj" if arm.startswith("SUJ") else _model_stem(arm)
    described = urdf_files()
    if stem not in described:
        valid = [name for name in files.arm_names() if name.lower() in described]
        raise UnknownName("arm with a description", arm, (*valid, "SUJ", "SUJ_PSM1"))
    return expand(stem, arm=arm, **arguments)


def _model_stem(arm: str) -> str:
    """The name of an arm's description file, which is its model's name; "" for no arm."""
    try:
        return files.model_name(arm).lower()
    except UnknownName:
        return ""


def expand(name: str | Path, **arguments: str) -> str:
    """The URDF that a xacro file expands to.

    Args:
        name: One of ``urdf_files()``, or the path of any xacro file.
        **arguments: Its xacro arguments.

    Raises:
        UnknownName: If the description is unknown.
        ModelError: If xacro refuses it; names the file and the reason.
        MissingExtra: If xacro is not installed.
    """
    path = name if isinstance(name, Path) else _urdf_dir() / f"{name}{_ENDING}"
    if not path.is_file():
        if isinstance(name, Path):
            raise ModelError(str(path), "does not exist")
        raise UnknownName("description", name, urdf_files())
    try:
        import xacro
    except ImportError as error:
        raise MissingExtra("xacro", _HINT) from error
    with _XACRO:
        try:
            document = xacro.process_file(str(path), mappings=arguments)
            text: str = document.toprettyxml(indent="  ")
            return text
        except ExpatError as error:
            raise ModelError(str(path), f"is no XML: {error}") from error
        except Exception as error:
            # A xacro file is a program and may raise anything. After the first line comes the
            # expression, which means nothing to a user.
            lines = str(error).splitlines() or [type(error).__name__]
            raise ModelError(str(path), lines[0].strip()) from error
