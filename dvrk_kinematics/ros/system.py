"""Which processes make up a system: an arm, several arms or the cart, simulated or real.

``ARGUMENTS`` is what a user can say about it, once for the launch files and for ``./dvrk up``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.files import find_models_dir, model_name
from dvrk_kinematics.models.loader import load_model
from dvrk_kinematics.ros.bringup import Process, simulated_arms

__all__ = ["ARGUMENTS", "ARMS", "CART", "Argument", "System", "make_processes", "read_system"]

ARMS: Final = ("PSM1", "PSM2", "PSM3", "ECM", "RVM1", "CYBER310")
CART: Final = ("PSM1", "PSM2", "PSM3", "ECM")
SETUP_JOINTS: Final = "SUJ"
"""The name that stands for all setup joints of a cart."""

_TRUTH: Final = ("true", "false")
_SIMULATED: Final = "simulated"
_PATIENCE_S: Final = 0.5
"""With simulated arms nobody is hurt by a state that comes late: a busy laptop shall not stop a
motion. With real ones the bridge's own, stricter bounds hold."""
_CART_TF_HZ: Final = 50.0
_SETUP_HZ: Final = 50.0


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
        _SIMULATED,
        "simulated: starts an arm_simulator; dvrk: commands the arms of a running dvrk_system",
        (_SIMULATED, "dvrk"),
    ),
    Argument("instrument", "", "instrument of the PSMs, by name or number; empty for the usual"),
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


@dataclass(frozen=True, slots=True)
class System:
    """What to start; fields as in ``ARGUMENTS``, with these besides.

    Attributes:
        arms: The arms.
        has_setup_joints: Whether they stand on a cart.
    """

    arms: tuple[str, ...] = ("PSM1",)
    has_setup_joints: bool = False
    hardware: str = _SIMULATED
    instrument: str = ""
    generation: str = "Classic"
    prefix: str = "{arm}_"
    namespace: str = ""
    rate: float = 200.0
    servers: bool = True
    rviz: bool = False
    record: bool = False
    output: str = ""
    params_file: str = ""
    log_level: str = ""


def read_system(
    values: Mapping[str, str], arms: Sequence[str] = (), has_setup_joints: bool = False
) -> System:
    """Read what a user said.

    Args:
        values: Texts by the names of ``ARGUMENTS``; what is missing has its default.
        arms: The arms; that of ``values`` by default.
        has_setup_joints: Whether they stand on a cart.

    Raises:
        InvalidInput: A value that is not allowed, or no such argument.
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
    return System(
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


def _read_rate(text: str, default: float) -> float:
    try:
        rate = float(text) if text else default
    except ValueError:
        raise InvalidInput("rate", f"{text!r} is no number") from None
    if not 10.0 <= rate <= 1000.0:
        raise InvalidInput("rate", f"must be within 10 and 1000 Hz, is {text}")
    return rate


def make_processes(system: System) -> tuple[Process, ...]:
    """The processes of a system, in the order in which to start them.

    Raises:
        UnknownName: There is no such arm or instrument.
        InvalidInput: The instrument does not fit.
    """
    for arm in system.arms:
        instrument = (system.instrument or None) if _carries(arm, system) else None
        load_model(model_name(arm), instrument, system.generation)
    processes = [*_simulator(system), *_bridges(system)]
    if system.servers:
        processes += _servers(system)
    if system.record:
        processes.append(_recorder(system))
    if system.rviz:
        processes.append(_rviz(system))
    return tuple(_place(process, system) for process in processes)


def _place(process: Process, system: System) -> Process:
    """Tell a process what holds for all: namespace, log level, parameters."""
    if process.executable == "record":
        # A command and no node: arguments of ROS would be refused, its own say where it records.
        return process
    if process.package == "rviz2":
        return replace(process, namespace=system.namespace, log_level=system.log_level)
    return replace(
        process,
        namespace=system.namespace,
        params_file=system.params_file,
        log_level=system.log_level,
    )


def _simulator(system: System) -> list[Process]:
    if system.hardware != _SIMULATED:
        return []
    parameters: dict[str, Any] = {"rate": system.rate, "tf_rate": min(50.0, system.rate)}
    if system.has_setup_joints:
        parameters["setup_joints"] = True
    if system.instrument and any(_carries(arm, system) for arm in system.arms):
        parameters["instrument"] = system.instrument
    return [simulated_arms(system.arms, **parameters)]


def _carries(arm: str, system: System) -> bool:
    """Whether an arm carries an instrument."""
    return load_model(model_name(arm), None, system.generation).instrument is not None


def _bridges(system: System) -> list[Process]:
    common: dict[str, Any] = {"hardware": system.hardware, "prefix": system.prefix}
    if system.hardware == _SIMULATED:
        common |= {"max_age": _PATIENCE_S, "max_gap": _PATIENCE_S}
    if len(system.arms) > 1:
        common["tf_rate"] = min(_CART_TF_HZ, system.rate)
    bridges = []
    for arm in system.arms:
        parameters = {"arm": arm, "rate": system.rate, "generation": system.generation, **common}
        if system.instrument and _carries(arm, system):
            parameters["instrument"] = system.instrument
        bridges.append(Process("arm_bridge", name=f"bridge_{arm}", parameters=parameters))
    if system.has_setup_joints:
        parameters = {
            "arm": SETUP_JOINTS,
            "hardware": system.hardware,
            "setup_joints": list(system.arms),
            "rate": _SETUP_HZ,
        }
        bridges.append(Process("arm_bridge", name=f"bridge_{SETUP_JOINTS}", parameters=parameters))
    return bridges


def _servers(system: System) -> list[Process]:
    parameters: dict[str, Any] = {"arms": list(system.arms), "generation": system.generation}
    if system.instrument:
        parameters["instruments"] = [system.instrument]
    return [
        Process("kinematics_server", parameters=parameters),
        Process("trajectory_server", parameters=parameters),
    ]


def _recorder(system: System) -> Process:
    setup = [SETUP_JOINTS] if system.has_setup_joints else []
    arguments = ["--arms", *system.arms, *setup]
    if system.namespace:
        arguments += ["--namespace", system.namespace]
    if system.output:
        arguments += ["--output", system.output]
    return Process("record", arguments=tuple(arguments))


def _rviz(system: System) -> Process:
    name = "cart.rviz" if len(system.arms) > 1 else "arm.rviz"
    file = find_models_dir().parent / "rviz" / name
    return Process("rviz2", package="rviz2", arguments=("-d", str(file)))
