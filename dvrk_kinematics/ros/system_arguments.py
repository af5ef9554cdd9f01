"""What a user can say about a system, once for the launch files and for ``./dvrk up``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.loader import instrument_names
from dvrk_kinematics.ros.arm_roster import ARMS
from dvrk_kinematics.ros.system import SIMULATED, System, check_system

__all__ = ["ARGUMENTS", "Argument", "read_system"]

_TRUTH: Final = ("true", "false")


@dataclass(frozen=True, slots=True)
class Argument:
    """Something that a user can say.

    Attributes:
        name: Its name.
        default: Its value if nothing is said.
        description: What it means.
        choices: The values allowed, if these are few.
    """

    name: str
    default: str
    description: str
    choices: tuple[str, ...] = ()


ARGUMENTS: Final = (
    Argument("arm", "PSM1", "arm to start, by its name on the graph", ARMS),
    Argument(
        "hardware",
        SIMULATED,
        "simulated: starts an arm_simulator; dvrk: commands the arms of a running dvrk_system",
        (SIMULATED, "dvrk"),
    ),
    Argument(
        "instrument",
        "",
        "instrument of the PSMs, by name or number; empty for the usual; there are: "
        + ", ".join(instrument_names()),
    ),
    Argument("generation", "Classic", "generation of the arms", ("Classic", "Si")),
    Argument("prefix", "{arm}_", "prefix of links on tf; {arm} stands for the arm's name"),
    Argument("namespace", "", "namespace of everything, arms included"),
    Argument("rate", "", "rate of loops and states in Hz; empty for 200, or 100 for the cart"),
    Argument("servers", "true", "start kinematics_server and trajectory_server", _TRUTH),
    Argument("rviz", "false", "start RViz (where it is installed)", _TRUTH),
    Argument("record", "false", "record a bag of the standard topics", _TRUTH),
    Argument("output", "", "folder of that bag; must not exist; empty for one by date and time"),
    Argument("params_file", "", "YAML file with parameters for all nodes"),
    Argument(
        "log_level", "", "least severity that is logged", ("", "debug", "info", "warn", "error")
    ),
)
"""Everything that can be said about a system."""


def read_system(
    values: Mapping[str, str], arms: Sequence[str] = (), has_setup_joints: bool = False
) -> System:
    """Read what a user said.

    Args:
        values: Texts by the names of ``ARGUMENTS``; what is missing has its default.
        arms: The arms; that of ``values`` by default.
        has_setup_joints: Whether they stand on a cart.

    Raises:
        InvalidInput: A value that is not allowed, no such argument, or what does not go together.
        UnknownName: There is no such generation of the arm, or no such instrument.
    """
    known = {argument.name: argument for argument in ARGUMENTS}
    for name, value in values.items():
        if name not in known:
            raise InvalidInput(name, f"is no argument; there are: {', '.join(known)}")
        choices = known[name].choices
        if choices and value not in choices:
            valid = ", ".join(choice or "''" for choice in choices)
            raise InvalidInput(name, f"must be one of {valid}, is {value!r}")
    told = {name: values.get(name, argument.default) for name, argument in known.items()}
    if told["params_file"] and not Path(told["params_file"]).is_file():
        raise InvalidInput("params_file", f"{told['params_file']} does not exist")
    system = System(
        arms=tuple(arms) or (told["arm"],),
        has_setup_joints=has_setup_joints,
        rate=_read_rate(told["rate"], 100.0 if has_setup_joints else 200.0),
        servers=told["servers"] == "true",
        rviz=told["rviz"] == "true",
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
        raise InvalidInput("rate", f"{text!r} is no number") from None
    if not 10.0 <= rate <= 1000.0:
        raise InvalidInput("rate", f"must be within 10 and 1000 Hz, is {text}")
    return rate
