"""The processes of a system: an arm, several arms or the cart, simulated or real."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from rclpy.exceptions import InvalidNamespaceException
from rclpy.validate_namespace import validate_namespace

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.load_model import load_model
from dvrk_kinematics.models.model_files import model_name
from dvrk_kinematics.ros.bridge.settings import check_prefix, fill_prefix
from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms
from dvrk_kinematics.ros.bringup.rviz_view import write_view
from dvrk_kinematics.ros.simulator.settings import SimulatorSettings

__all__ = ["SIMULATED", "System", "check_system", "make_processes"]

SETUP_JOINTS: Final = "SUJ"
"""The name that stands for all setup joints of a cart."""

SIMULATED: Final = "simulated"
_PATIENCE_S: Final = 0.5
"""With simulated arms a late state hurts nobody: a busy laptop must not stop a motion. With real
arms the bridge's own, stricter bounds apply."""
_CART_TF_HZ: Final = 50.0
_SETUP_HZ: Final = 50.0


@dataclass(frozen=True, slots=True)
class System:
    """What to start; fields as in ``system_arguments.ARGUMENTS``, plus these.

    Attributes:
        arms: The arms.
        has_setup_joints: Whether they stand on a cart.
    """

    arms: tuple[str, ...] = ("PSM1",)
    has_setup_joints: bool = False
    hardware: str = SIMULATED
    bring_up: bool = False
    instrument: str = ""
    generation: str = "Classic"
    prefix: str = "{arm}_"
    namespace: str = ""
    rate: float = 200.0
    servers: bool = True
    rviz: bool = False
    respawn: bool = False
    record: bool = False
    output: str = ""
    params_file: str = ""
    log_level: str = ""


def check_system(system: System) -> None:
    """Refuse inconsistent choices.

    Raises:
        UnknownName: There is no such arm, generation or instrument.
        InvalidInput: An arm twice, arms that cannot be simulated, an instrument that no arm
            carries, a real arm to be brought up automatically, or names that no frame or node can
            have or that several arms would share.
    """
    twice = [arm for arm in dict.fromkeys(system.arms) if system.arms.count(arm) > 1]
    if twice:
        raise InvalidInput("arm", f"{', '.join(twice)} is named twice")
    _check_names(system)
    if system.bring_up and system.hardware != SIMULATED:
        reason = "a real arm is brought up by the person beside it, with enable and home"
        raise InvalidInput("bring_up", f"{reason}; leave it out with hardware:={system.hardware}")
    if system.hardware == SIMULATED and system.generation != "Classic":
        reason = f"{system.generation} arms are not simulated; they can be driven: hardware:=dvrk"
        raise InvalidInput("generation", reason)
    carrying = [arm for arm in system.arms if _carries(arm, system)]
    if system.instrument and not carrying:
        reason = f"{', '.join(system.arms)} carries none; leave it empty"
        raise InvalidInput("instrument", reason)
    for arm in carrying:
        load_model(model_name(arm), system.instrument or None, system.generation)


def _check_names(system: System) -> None:
    """Refuse a prefix or a namespace that every bridge would refuse, or that arms would share."""
    for arm in system.arms:
        check_prefix("prefix", fill_prefix(system.prefix, arm))
    if len({fill_prefix(system.prefix, arm) for arm in system.arms}) < len(system.arms):
        raise InvalidInput(
            "prefix",
            f"{' and '.join(system.arms)} would share the names of their links; write {{arm}} "
            f"where the arm's name goes: prefix:={fill_prefix(system.prefix, '')}{{arm}}_",
        )
    try:
        validate_namespace(f"/{system.namespace.strip('/')}")
    except InvalidNamespaceException:
        raise InvalidInput(
            "namespace",
            f"{system.namespace!r} is none: letters, digits and _, no digit first, with / "
            "between names, such as lab/left",
        ) from None


def make_processes(system: System) -> tuple[Process, ...]:
    """Return the processes of a system in starting order.

    If RViz is among them, this writes the file that it reads.

    Raises:
        UnknownName: There is no such arm, generation or instrument.
        InvalidInput: The choices are inconsistent.
    """
    check_system(system)
    processes = [*_simulator(system), *_bridges(system)]
    if system.servers:
        processes += _servers(system)
    if system.record:
        processes.append(_recorder(system))
    if system.rviz:
        processes.append(_rviz(system))
    return tuple(_place(process, system) for process in processes)


def _place(process: Process, system: System) -> Process:
    """Apply the settings common to all processes: namespace, log level, parameters."""
    if process.executable == "record":
        # A command, not a node: it would refuse ROS arguments; its own say where it records.
        return process
    if process.package == "rviz2":
        return replace(process, namespace=system.namespace, log_level=system.log_level)
    return replace(
        process,
        namespace=system.namespace,
        params_file=system.params_file,
        log_level=system.log_level,
        respawn=system.respawn,
    )


def _simulator(system: System) -> list[Process]:
    if system.hardware != SIMULATED:
        return []
    usual = SimulatorSettings()
    parameters: dict[str, Any] = {
        "rate": system.rate,
        # It refuses to publish more often than the arms move.
        "tf_rate": min(usual.tf_rate, system.rate),
        "setup_joint_rate": min(usual.setup_joint_rate, system.rate),
    }
    if system.has_setup_joints:
        parameters["setup_joints"] = True
    if system.instrument and any(_carries(arm, system) for arm in system.arms):
        parameters["instrument"] = system.instrument
    return [simulated_arms(system.arms, **parameters)]


def _carries(arm: str, system: System) -> bool:
    """Return whether an arm carries an instrument."""
    return load_model(model_name(arm), None, system.generation).instrument is not None


def _bridges(system: System) -> list[Process]:
    common: dict[str, Any] = {"hardware": system.hardware, "prefix": system.prefix}
    if system.hardware == SIMULATED:
        common |= {"max_age": _PATIENCE_S, "max_gap": _PATIENCE_S}
    if len(system.arms) > 1:
        common["tf_rate"] = min(_CART_TF_HZ, system.rate)
    if system.has_setup_joints:
        # Because of the stamps of setup joints, RViz shows no arm that is not homed.
        common["description_waits"] = True
    bridges = []
    for arm in system.arms:
        parameters = {"arm": arm, "rate": system.rate, "generation": system.generation, **common}
        if system.bring_up:
            parameters["bring_up"] = True
        if system.instrument and _carries(arm, system):
            parameters["instrument"] = system.instrument
        bridges.append(Process("arm_bridge", name=f"bridge_{arm}", parameters=parameters))
    if system.has_setup_joints:
        parameters = {
            "arm": SETUP_JOINTS,
            "hardware": system.hardware,
            "setup_joints": list(system.arms),
            "rate": _SETUP_HZ,
            "description_waits": True,
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
    arguments = ["--arms", *system.arms]
    if system.has_setup_joints:
        # The bridge's topics for all of them, and the dVRK's topics for each.
        arguments += [SETUP_JOINTS, *(f"{SETUP_JOINTS}/{arm}" for arm in system.arms)]
    if system.namespace:
        arguments += ["--namespace", system.namespace]
    if system.output:
        arguments += ["--output", system.output]
    return Process("record", arguments=tuple(arguments))


def _rviz(system: System) -> Process:
    file = write_view(system.arms, system.prefix, system.namespace, system.has_setup_joints)
    return Process("rviz2", package="rviz2", arguments=("-d", str(file)), is_optional=True)
