"""The location of the model files: in a source tree, an installed share folder or an overlay."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from dvrk_kinematics.errors import ModelError, UnknownName
from dvrk_kinematics.models.read_yaml import Node, read_yaml

__all__ = [
    "INSTRUMENTS_FILE",
    "arm_names",
    "find_models_dir",
    "model_name",
    "part_names",
    "read_arm_file",
    "read_cached",
]

INSTRUMENTS_FILE = "instruments.yaml"
_SHARE = Path("share") / "dvrk_kinematics" / "config" / "models"
_DEFAULT_GENERATION = "Classic"


def _candidates() -> Iterator[Path]:
    package = Path(__file__).resolve().parent.parent
    yield package.parent / "config" / "models"
    # An installed package is some folders below its prefix; the depth depends on the system.
    for parent in package.parents:
        yield parent / _SHARE
    yield Path(sys.prefix) / _SHARE
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix) / _SHARE


@lru_cache(maxsize=1)
def find_models_dir() -> Path:
    """The folder that holds the model files.

    Looks next to the package, then in share/ of the prefixes above it, of the interpreter and of
    AMENT_PREFIX_PATH.

    Raises:
        ModelError: If none of them holds the instruments; names the folders searched.
    """
    looked = []
    for folder in _candidates():
        if (folder / INSTRUMENTS_FILE).is_file():
            return folder
        looked.append(str(folder))
    raise ModelError("config/models", f"not found; looked in {', '.join(dict.fromkeys(looked))}")


@lru_cache(maxsize=64)
def read_cached(path: Path) -> Node:
    """Reads a model file once per process."""
    return read_yaml(path)


def _files(folder: Path) -> dict[tuple[str, str], Path]:
    """Files by (NAME, GENERATION) in upper case, taken from their names: psm.yaml, psm_si.yaml."""
    found = {}
    for path in sorted(folder.glob("*.yaml")):
        stem = path.stem.upper()
        if path.name == INSTRUMENTS_FILE:
            continue
        if stem.endswith("_SI"):
            found[stem[: -len("_SI")], "SI"] = path
        else:
            found[stem, _DEFAULT_GENERATION.upper()] = path
    return found


def arm_names(
    generation: str = _DEFAULT_GENERATION, folder: Path | None = None
) -> tuple[str, ...]:
    """Names of the arms of a generation, as load_arm accepts them."""
    files = _files(folder or find_models_dir())
    return tuple(name for name, made in files if made == generation.upper())


def model_name(arm: str, folder: Path | None = None) -> str:
    """The model of an arm by its name on the graph.

    Args:
        arm: Name of an instance: "PSM1", "ECM", "RVM1", ..., in any case.
        folder: Folder of the files; the project's own by default.

    Returns:
        The model of that very name ("RVM1"), else the name without trailing digits ("PSM").

    Raises:
        UnknownName: If neither exists; lists the models.
    """
    known = dict.fromkeys(name for name, _ in _files(folder or find_models_dir()))
    for name in (arm.upper(), arm.upper().rstrip("0123456789")):
        if name in known:
            return name
    raise UnknownName("arm", arm, known)


def part_names(group: str, folder: Path | None = None) -> tuple[str, ...]:
    """The models that a group name stands for: "SUJ" for SUJ_ECM, SUJ_PSM1, ...

    Args:
        group: The group name; a model's own name stands for no others.
        folder: Folder of the files; the project's own by default.
    """
    known = dict.fromkeys(name for name, _ in _files(folder or find_models_dir()))
    if group.upper() in known:
        return ()
    return tuple(name for name in known if name.startswith(f"{group.upper()}_"))


def read_arm_file(name: str, generation: str, folder: Path | None = None) -> Node:
    """Reads the file of an arm.

    Args:
        name: "PSM", "ECM", "SUJ_PSM1", "MTML" and so on, in any case; or an instance's name, such
            as "PSM1", as ``model_name`` accepts it.
        generation: "Classic" or "Si", in any case.
        folder: Folder of the files; the project's own by default.

    Raises:
        UnknownName: If the arm or generation is unknown; lists those that exist.
        ModelError: If the file cannot be used.
    """
    generation = str(generation)
    model = model_name(str(name), folder)
    files = _files(folder or find_models_dir())
    path = files.get((model, generation.upper()))
    if path is not None:
        return read_cached(path)
    generations = [made.capitalize() for arm, made in files if arm == model]
    raise UnknownName(f"generation of {model}", generation, generations)
