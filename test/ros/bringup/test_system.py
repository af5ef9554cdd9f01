"""Which processes make up a system, and what each is told."""

from __future__ import annotations

import pytest

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.ros.bringup import Process, command_line
from dvrk_kinematics.ros.launching import LAUNCHES
from dvrk_kinematics.ros.system import ARGUMENTS, CART, System, make_processes, read_system
from dvrk_kinematics.ros.up import parse


def _labels(system: System) -> list[str]:
    return [process.label for process in make_processes(system)]


def _by_label(system: System) -> dict[str, Process]:
    return {process.label: process for process in make_processes(system)}


def test_an_arm_is_a_simulator_a_bridge_and_two_servers() -> None:
    assert _labels(System()) == [
        "arm_simulator",
        "bridge_PSM1",
        "kinematics_server",
        "trajectory_server",
    ]


def test_a_real_arm_has_no_simulator_and_strict_bounds() -> None:
    processes = _by_label(System(hardware="dvrk"))
    assert "arm_simulator" not in processes
    parameters = processes["bridge_PSM1"].parameters
    assert parameters["hardware"] == "dvrk"
    assert "max_age" not in parameters and "max_gap" not in parameters


def test_a_simulated_arm_is_the_default_everywhere() -> None:
    assert System().hardware == "simulated"
    assert parse([]).hardware == "simulated"
    assert {a.name: a.default for a in ARGUMENTS}["hardware"] == "simulated"


def test_a_cart_has_a_bridge_for_each_arm_and_one_for_the_setup_joints() -> None:
    processes = _by_label(parse(["--cart"]))
    bridges = {label for label in processes if label.startswith("bridge_")}
    assert bridges == {*(f"bridge_{arm}" for arm in CART), "bridge_SUJ"}
    assert processes["arm_simulator"].parameters["setup_joints"] is True
    assert processes["bridge_PSM2"].parameters["rate"] == 100.0
    assert processes["bridge_PSM2"].parameters["tf_rate"] == 50.0
    assert processes["bridge_SUJ"].parameters["setup_joints"] == list(CART)
    assert processes["trajectory_server"].parameters["arms"] == list(CART)


def test_an_instrument_goes_to_those_that_carry_one() -> None:
    processes = _by_label(System(arms=("PSM1", "ECM"), instrument="400093"))
    assert processes["bridge_PSM1"].parameters["instrument"] == "400093"
    assert "instrument" not in processes["bridge_ECM"].parameters
    assert processes["kinematics_server"].parameters["instruments"] == ["400093"]


def test_namespace_parameters_and_log_level_reach_every_node(tmp_path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text("/**: {ros__parameters: {feed_forward: true}}\n")
    system = parse([f"params_file:={file}", "log_level:=debug", "namespace:=lab"])
    for process in make_processes(system):
        command = command_line(process)
        assert "__ns:=/lab" in command
        assert command[command.index("--params-file") + 1] == str(file)
        assert command[command.index("--log-level") + 1] == "debug"


def test_options_and_launch_arguments_say_the_same() -> None:
    assert parse(["--arm", "PSM2", "--rate", "100"]) == parse(["arm:=PSM2", "rate:=100"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["arm:=PSM9"], "must be one of PSM1"),
        (["hardware:=real"], "must be one of simulated, dvrk"),
        (["rate:=fast"], "no number"),
        (["rate:=5"], "within 10 and 1000"),
        (["params_file:=/nowhere.yaml"], "does not exist"),
        (["servers:=maybe"], "must be one of true, false"),
    ],
)
def test_what_makes_no_sense_is_refused_by_a_sentence(arguments, text) -> None:
    with pytest.raises(InvalidInput, match=text):
        parse(arguments)


def test_unknown_arguments_and_instruments_are_refused() -> None:
    with pytest.raises(InvalidInput, match="there are: arm, hardware"):
        read_system({"robot": "PSM1"})
    with pytest.raises(UnknownName):
        make_processes(System(arms=("HAL",)))


def test_recording_and_rviz_are_added_on_request() -> None:
    processes = _by_label(parse(["--cart", "record:=true", "rviz:=true", "output:=/tmp/b"]))
    assert "--output" in processes["record"].arguments
    assert {*CART, "SUJ"} <= set(processes["record"].arguments)
    assert processes["rviz2"].arguments[1].endswith("cart.rviz")


def test_the_command_record_gets_no_arguments_of_ros(tmp_path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text("{}")
    told = [f"params_file:={file}", "log_level:=debug", "namespace:=lab", "record:=true"]
    command = command_line(_by_label(parse(told))["record"])
    assert "--ros-args" not in command
    assert command[command.index("--namespace") + 1] == "lab"
    (launched,) = LAUNCHES["record"].make({"arm": "PSM1", "namespace": "lab"})
    assert command_line(launched) == command


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_every_launch_file_describes_its_arguments(name) -> None:
    for argument in LAUNCHES[name].declared:
        assert len(argument.description) > 10
        assert not argument.choices or argument.default in argument.choices


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("arm", ["arm_simulator", "bridge_PSM1", "kinematics_server", "trajectory_server"]),
        ("view", ["rviz2"]),
        ("record", ["record"]),
    ],
)
def test_launch_files_start_what_they_say(name, expected) -> None:
    launch = LAUNCHES[name]
    values = {argument.name: argument.default for argument in launch.declared}
    assert [process.label for process in launch.make(values)] == expected


def test_the_block_o_is_enabled_by_itself_only_on_a_simulated_arm() -> None:
    launch = LAUNCHES["block_o"]
    values = {argument.name: argument.default for argument in launch.declared}
    assert "--bring-up" in launch.make(dict(values))[-1].arguments
    real = launch.make({**values, "hardware": "dvrk"})
    assert real[-1].executable == "trace_block_o"
    assert "--bring-up" not in real[-1].arguments
