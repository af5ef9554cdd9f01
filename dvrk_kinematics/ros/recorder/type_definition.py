"""Message types by name: the class, and the definition that a bag carries for its readers.

A bag may be read on machines without the types, so each of its topics carries the text of its type
and of all types inside it. The texts are the installed ``.msg`` files, including comments and
constants. An action's feedback has no file of its own; we assemble it as rosidl does.
"""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from dvrk_kinematics.errors import InvalidInput

__all__ = ["TypeDefinition", "find_definition", "find_message_class"]

_FEEDBACK_MESSAGE = "_FeedbackMessage"
_FEEDBACK = "_Feedback"
_SECTION = re.compile(r"^---\s*$", re.MULTILINE)
_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+\w+", re.MULTILINE)
_PRIMITIVE = re.compile(r"bool|byte|char|float\d\d|u?int\d+|w?string")
_RULE = "=" * 80


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """What a bag stores about a type.

    Attributes:
        text: Its definition, followed by those of the types inside it.
        hash: Its hash, as publishers announce it (RIHS01).
    """

    text: str
    hash: str


def find_message_class(type_name: str) -> Any:
    """Find the class of a type.

    Args:
        type_name: The type, such as ``std_msgs/msg/String``.

    Raises:
        InvalidInput: If no such type is installed.
    """
    package, folder, name = _split(type_name)
    try:
        module = importlib.import_module(f"{package}.{folder}")
        if name.endswith(_FEEDBACK_MESSAGE):
            return getattr(module, name.removesuffix(_FEEDBACK_MESSAGE)).Impl.FeedbackMessage
        return getattr(module, name)
    except (ImportError, AttributeError) as error:
        raise InvalidInput("type", f"{type_name} is not installed ({error})") from error


@lru_cache(maxsize=256)
def find_definition(type_name: str) -> TypeDefinition:
    """Find the definition of a type, from the files that its package installed.

    Raises:
        InvalidInput: If its package or one of its files is not installed.
    """
    texts: dict[str, str] = {}
    pending = [type_name]
    while pending:
        name = pending.pop(0)
        if name not in texts:
            texts[name] = _read_text(name)
            pending += _parts(texts[name], name)
    first, *others = texts.items()
    blocks = [first[1], *(f"MSG: {_short(name)}\n{text}" for name, text in others)]
    return TypeDefinition(f"\n{_RULE}\n".join(blocks) + "\n", _read_hash(type_name))


def _split(type_name: str) -> tuple[str, str, str]:
    parts = type_name.split("/")
    if len(parts) != 3 or not all(parts):
        raise InvalidInput("type", f"{type_name!r} is no type; one is std_msgs/msg/String")
    return parts[0], parts[1], parts[2]


def _short(type_name: str) -> str:
    """Return a type's name as definitions write it: without the folder."""
    package, _, name = _split(type_name)
    return f"{package}/{name}"


def _parts(text: str, of: str) -> list[str]:
    """Return the names of the field types in a definition."""
    package, folder, _ = _split(of)
    found = []
    for written in _FIELD.findall(re.sub(r"#.*", "", text)):
        if _PRIMITIVE.fullmatch(written):
            continue
        owner, _, name = written.rpartition("/")
        inside = folder if name.endswith(_FEEDBACK) else "msg"
        found.append(f"{owner or package}/{inside}/{name}")
    return found


def _read_text(type_name: str) -> str:
    package, folder, name = _split(type_name)
    if folder == "msg":
        return _read_file(type_name, Path("msg", f"{name}.msg")).rstrip()
    if name.endswith(_FEEDBACK_MESSAGE):
        action = name.removesuffix(_FEEDBACK_MESSAGE)
        return f"unique_identifier_msgs/UUID goal_id\n{package}/{action}{_FEEDBACK} feedback"
    action = name.removesuffix(_FEEDBACK)
    sections = _SECTION.split(_read_file(type_name, Path("action", f"{action}.action")))
    return sections[-1].strip()


def _read_hash(type_name: str) -> str:
    _, folder, name = _split(type_name)
    owner = name.removesuffix(_FEEDBACK_MESSAGE)
    listed = json.loads(_read_file(type_name, Path(folder, f"{owner}.json")))["type_hashes"]
    return next(str(row["hash_string"]) for row in listed if row["type_name"] == type_name)


def _read_file(type_name: str, file: Path) -> str:
    package = _split(type_name)[0]
    try:
        return Path(get_package_share_directory(package), file).read_text(encoding="utf-8")
    except (PackageNotFoundError, OSError) as error:
        raise InvalidInput(
            "type", f"{type_name} has no definition: {file} of {package} is not installed"
        ) from error
