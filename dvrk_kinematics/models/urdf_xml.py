"""URDF text to the records of urdf_parser_py, with errors that name the file."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

from dvrk_kinematics.errors import MissingExtra, ModelError

__all__ = ["parse_robot"]

_LOGGER = logging.getLogger(__name__)
_HINT = "install urdfdom-py with pip, or ros-<distro>-urdfdom-py where ROS 2 is installed"
# urdf_parser_py reports what it does not know through one function of its module.
_REPORTING = threading.Lock()


def parse_robot(text: str, source: str) -> Any:
    """Reads a URDF with urdf_parser_py.

    Args:
        text: The whole file.
        source: Its name, for errors.

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
    try:
        with _REPORTING, _quiet(xml_reflection.core, source):
            # As bytes: lxml refuses text that declares an encoding.
            return urdf.URDF.from_xml_string(text.encode())
    except xml_reflection.core.ParseError as error:
        raise ModelError(source, f"is no URDF: {error}") from error
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        # What the library lets through from below its own checks.
        raise ModelError(source, f"is no URDF: {type(error).__name__}: {error}") from error


def _check_xml(text: str, source: str) -> None:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ModelError(source, f"is no XML: {error}") from error
    if root.tag != "robot":
        raise ModelError(source, f"is no URDF: the root element is <{root.tag}>, not <robot>")
    for kind in ("link", "joint"):
        for element in root.findall(kind):
            if not element.get("name"):
                raise ModelError(source, f"is no URDF: a <{kind}> has no name")


@contextmanager
def _quiet(core: Any, source: str) -> Iterator[None]:
    """Sends remarks about unknown tags to the log instead of the terminal."""
    before = core.on_error

    def remark(message: str) -> None:
        _LOGGER.debug("%s: %s", source, message)

    core.on_error = remark
    try:
        yield
    finally:
        core.on_error = before
