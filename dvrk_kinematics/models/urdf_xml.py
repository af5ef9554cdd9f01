"""URDF text to the records of urdf_parser_py, with errors that name the file."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn
from xml.parsers import expat

from dvrk_kinematics.errors import MissingExtra, ModelError

__all__ = ["parse_robot"]

_LOGGER = logging.getLogger(__name__)
_HINT = "install urdfdom-py with pip, or ros-<distro>-urdfdom-py where ROS 2 is installed"
# urdf_parser_py reports what it does not know through one function of its module.
_REPORTING = threading.Lock()
_DEEPEST = 100
"""Elements that may be nested; a URDF needs six, and what simulators add to it a few more."""

_READ_OF = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "joint": ("origin", "parent", "child", "axis", "limit", "mimic"),
}
"""What is read of an element. Transmissions, gazebo, ros2_control and whatever others add to a
URDF has rules of its own, which are the business of those who use it; so have collision solids."""
_SHOWN_OF = {"robot": ("material",), "link": ("visual",)}
"""What is read besides by those who show a robot."""


def parse_robot(text: str, source: str, has_visuals: bool = False) -> Any:
    """Reads a URDF with urdf_parser_py.

    Args:
        text: The whole file.
        source: Its name, for errors.
        has_visuals: Whether to read visuals and materials, which may refuse the URDF. Kinematics
            does without.

    Returns:
        A ``urdf_parser_py.urdf.Robot``.

    Raises:
        ModelError: If it is no XML or no URDF; names the file and what is wrong.
        MissingExtra: If urdf_parser_py is not installed.
    """
    try:
        from urdf_parser_py import urdf, xml_reflection
    except ImportError as error:
        raise MissingExtra("urdf_parser_py", _HINT) from error
    _check_xml(text, source)
    core = xml_reflection.core
    try:
        with _REPORTING, _quiet(xml_reflection, source):
            root = core.etree.fromstring(text.encode(), _lxml_parser(core.etree))
            _drop_others(root, has_visuals)
            path = core.Path("robot", tree=core.etree.ElementTree(root))
            return urdf.URDF.from_xml(root, path)
    except core.ParseError as error:
        raise ModelError(source, f"is no URDF: {' '.join(str(error).split())}") from error
    except Exception as error:
        # What the library lets through from below its own checks may be anything.
        raise ModelError(source, f"is no URDF: {type(error).__name__}: {error}") from error


def _drop_others(element: Any, has_visuals: bool) -> None:
    """Leave out what is not needed, before anybody judges whether it is right."""
    if element.tag not in _READ_OF:
        return
    read = (*_READ_OF[element.tag], *(_SHOWN_OF.get(element.tag, ()) if has_visuals else ()))
    for part in list(element):
        if part.tag in read:
            _drop_others(part, has_visuals)
        else:
            element.remove(part)


def _lxml_parser(etree: Any) -> Any:
    """A parser for text that has passed :func:`_check_xml`, however long its parts are."""
    return etree.XMLParser(
        # Text has been decoded, whatever encoding it declares.
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )


def _check_xml(text: str, source: str) -> None:
    """Refuses what is no XML, no URDF, nested without end, or has entities that could expand."""
    parser = expat.ParserCreate(None, "}")
    depth = 0

    def refuse(reason: str) -> NoReturn:
        raise ModelError(f"{source}: line {parser.CurrentLineNumber}", f"is no URDF: {reason}")

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth == 1 and tag != "robot":
            refuse(f"the root element is <{tag}>, not <robot>")
        if depth == 2 and tag in ("link", "joint") and not attributes.get("name"):
            refuse(f"a <{tag}> has no name")
        if depth > _DEEPEST:
            refuse(f"<{tag}> is nested deeper than {_DEEPEST} elements")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def begin_doctype(*_: object) -> None:
        refuse("it has a DOCTYPE, which no URDF needs and which can hide entities")

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = begin_doctype
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ModelError(source, f"is no XML: {error}") from error
    except UnicodeEncodeError as error:
        raise ModelError(source, f"is no XML: character {error.start}: {error.reason}") from error


@contextmanager
def _quiet(library: Any, source: str) -> Iterator[None]:
    """Sends remarks about unknown tags to the log instead of the terminal."""
    # The parser calls the one, the records of a URDF the other.
    modules = (library.core, library)
    before = [module.on_error for module in modules]

    def remark(message: str) -> None:
        _LOGGER.debug("%s: %s", source, message)

    for module in modules:
        module.on_error = remark
    try:
        yield
    finally:
        for module, function in zip(modules, before, strict=True):
            module.on_error = function
