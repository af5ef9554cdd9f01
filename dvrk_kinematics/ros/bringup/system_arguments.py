"""A user's options for a system, shared by the launch files and ``./dvrk up``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.load_model import instrument_names
from dvrk_kinematics.ros.bridge.settings import NO_PREFIX
from dvrk_kinematics.ros.bringup.params_file import check_params_file
from dvrk_kinematics.ros.bringup.system import SIMULATED, System, check_system
from dvrk_kinematics.ros.common.arm_roster import ARMS

__all__ = ["ARGUMENTS", "Argument", "read_system"]

_TRUTH: Final = ("true", "false")
_SAID: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), "true"),
    **dict.fromkeys(("false", "0", "no", "off"), "false"),
}
"""How people write true and false, in upper or lower case."""
_AUTO: Final = "auto"


@dataclass(frozen=True, slots=True)
class Argument:
    """One option for the user.

    Attributes:
        name: Its name.
        default: Its value if none is given.
        description: What it means.
        choices: The values allowed, if there are only a few.
        is_list: Whether it takes several values, separated by commas.
    """

    name: str
    default: str
    description: str
    choices: tuple[str, ...] = ()
    is_list: bool = False

    @property
    def help(self) -> str:
        """Its meaning, with the values allowed."""
        named = ", ".join(filter(None, self.choices))
        return f"{self.description} ({named})" if named else self.description

    def read(self, text: str) -> str:
        """Convert a user's value to its standard spelling.

        Raises:
            InvalidInput: It is not allowed.
        """
        if not self.choices:
            return text
        said = [part.strip() for part in text.split(",")] if self.is_list else [text]
        if "true" in self.choices:
            said = [_SAID.get(part.lower(), part) for part in said]
        for part in said:
            if part not in self.choices:
                valid = ", ".join(choice or "''" for choice in self.choices)
                raise InvalidInput(self.name, f"must be one of {valid}, is {part!r}")
        return ",".join(said)


ARGUMENTS: Final = (
    Argument(
        "arm",
        "PSM1",
        "arm, or several with commas between them, by their names on the graph",
        ARMS,
        is_list=True,
    ),
    Argument(
        "hardware",
        SIMULATED,
        "simulated: starts an arm_simulator; dvrk: commands the arms of a running dvrk_system",
        (SIMULATED, "dvrk"),
    ),
    Argument(
        "bring_up",
        _AUTO,
        "enable and home the arms at the start; auto: simulated ones are, real ones never",
        (_AUTO, *_TRUTH),
    ),
    Argument(
        "instrument",
        "",
        "instrument of the PSMs, by name or number; empty for the usual; there are: "
        + ", ".join(instrument_names()),
    ),
    Argument("generation", "Classic", "generation of the arms", ("Classic", "Si")),
    Argument(
        "prefix",
        "{arm}_",
        "prefix of links on tf; {arm} stands for the arm's name, none for no prefix",
    ),
    Argument("namespace", "", "namespace of everything, arms included"),
    Argument("rate", "", "rate of loops and states in Hz; empty for 200, or 100 for the cart"),
    Argument("servers", "true", "start kinematics_server and trajectory_server", _TRUTH),
    Argument("rviz", "false", "start RViz (where it is installed)", _TRUTH),
    Argument(
        "respawn",
        "false",
        "start a node that dies again, up to 5 times, instead of ending all; an arm that it moved "
        "stays where it is until it is enabled again",
        _TRUTH,
    ),
    Argument("record", "false", "record a bag of the standard topics", _TRUTH),
    Argument("output", "", "folder of that bag; must not exist; empty for one by date and time"),
    Argument("params_file", "", "YAML file with parameters for all nodes"),
    Argument(
        "log_level", "", "least severity that is logged", ("", "debug", "info", "warn", "error")
    ),
)
"""All options for a system."""


def read_system(
    values: Mapping[str, str], arms: Sequence[str] = (), has_setup_joints: bool = False
) -> System:
    """Read a user's options.

    Args:
        values: Texts by the names of ``ARGUMENTS``; missing ones take their defaults.
        arms: The arms; those of ``values`` by default.
        has_setup_joints: Whether they stand on a cart.

    Raises:
        InvalidInput: A value that is not allowed, an unknown argument, or inconsistent choices.
        UnknownName: There is no such generation of the arm, or no such instrument.
    """
    known = {argument.name: argument for argument in ARGUMENTS}
    for name in values:
        if name not in known:
            raise InvalidInput(name, f"is no argument; there are: {', '.join(known)}")
    told = {
        name: argument.read(values[name]) if name in values else argument.default
        for name, argument in known.items()
    }
    if told["prefix"] == NO_PREFIX:
        told["prefix"] = ""
    if told["params_file"]:
        check_params_file(told["params_file"])
    system = System(
        arms=tuple(arms) or tuple(told["arm"].split(",")),
        has_setup_joints=has_setup_joints,
        rate=_read_rate(told["rate"], 100.0 if has_setup_joints else 200.0),
        bring_up=told["bring_up"] == "true"
        or (told["bring_up"] == _AUTO and told["hardware"] == SIMULATED),
        servers=told["servers"] == "true",
        rviz=told["rviz"] == "true",
        respawn=told["respawn"] == "true",
        record=told["record"] == "true",
        **{
            name: told[name]
            for name in (
                *("hardware", "instrument", "generation", "prefix", "namespace"),
                *("output", "params_file", "log_level"),
            )
        },
    )
    check_system(system)
    return system


def _read_rate(text: str, default: float) -> float:
    try:
        rate = float(text) if text else default
    except ValueError:
        raise InvalidInput("rate", f"{text!r} is not a number") from None
    if not 10.0 <= rate <= 1000.0:
        raise InvalidInput("rate", f"must be within 10 and 1000 Hz, is {text}")
    return rate
