"""Which processes make up a system, and what each is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from dvrk_kinematics.errors import InvalidInput, MissingExtra, UnknownName
from dvrk_kinematics.models.load_model import arm_names, instrument_names, load_model
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.bringup.launch import LAUNCHES
from dvrk_kinematics.ros.bringup.leave_out_missing import leave_out_missing
from dvrk_kinematics.ros.bringup.processes import Process, command_line
from dvrk_kinematics.ros.bringup.system import System, make_processes
from dvrk_kinematics.ros.bringup.system_arguments import ARGUMENTS, read_system
from dvrk_kinematics.ros.bringup.up import parse
from dvrk_kinematics.ros.common.arm_roster import ARMS, CART
from dvrk_kinematics.ros.recorder.topics import choose_topics
from dvrk_kinematics.ros.simulator.settings import SimulatorSettings


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


def _brought_up(arguments: list[str]) -> list[str]:
    processes = make_processes(parse(arguments))
    return [process.label for process in processes if process.parameters.get("bring_up")]


def test_simulated_arms_come_up_by_themselves_and_real_ones_never() -> None:
    assert _brought_up([]) == _brought_up(["bring_up:=true"]) == ["bridge_PSM1"]
    assert _brought_up(["--cart"]) == [f"bridge_{arm}" for arm in CART], "not the setup joints"
    for told in (["bring_up:=false"], ["hardware:=dvrk"], ["hardware:=dvrk", "bring_up:=false"]):
        assert _brought_up(told) == []
    with pytest.raises(InvalidInput, match="a real arm is brought up by the person beside it"):
        parse(["hardware:=dvrk", "bring_up:=true"])


def test_a_cart_has_a_bridge_for_each_arm_and_one_for_the_setup_joints() -> None:
    processes = _by_label(parse(["--cart"]))
    bridges = {label for label in processes if label.startswith("bridge_")}
    assert bridges == {*(f"bridge_{arm}" for arm in CART), "bridge_SUJ"}
    assert processes["arm_simulator"].parameters["setup_joints"] is True
    assert processes["bridge_PSM2"].parameters["rate"] == 100.0
    assert processes["bridge_PSM2"].parameters["tf_rate"] == 50.0
    assert processes["bridge_SUJ"].parameters["setup_joints"] == list(CART)
    # RViz could not place an arm of a cart before it is homed, and would show an error.
    assert all(
        process.parameters["description_waits"]
        for name, process in processes.items()
        if name.startswith("bridge_")
    )
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
        (["rate:=fast"], "not a number"),
        (["rate:=5"], "within 10 and 1000"),
        (["params_file:=/nowhere.yaml"], "does not exist"),
        (["servers:=maybe"], "must be one of true, false, is 'maybe'"),
        (["arm:=PSM1,HAL"], "must be one of PSM1, .*, is 'HAL'"),
        (["arm:=PSM1,PSM2,PSM1"], "PSM1 is named twice"),
        (["--cart", "--arm", "PSM1"], "--cart starts PSM1, .*; leave one of the two out"),
        (["arm:=PSM1,PSM2", "prefix:=none"], r"PSM1 and PSM2 would share .* prefix:={arm}_$"),
        (["arm:=PSM1,PSM2", "prefix:=left_"], r"would share .* prefix:=left_{arm}_$"),
        (["prefix:=/left_"], "'/left_' begins no name of a frame .* none for no prefix"),
        (["namespace:=2nd"], "'2nd' is none: letters, digits and _, no digit first"),
        (["namespace:=the lab"], "'the lab' is none"),
        (["arm=PSM1"], "write arm:=PSM1 or --arm=PSM1, not arm=PSM1"),
    ],
)
def test_what_makes_no_sense_is_refused_by_a_sentence(arguments, text) -> None:
    with pytest.raises(InvalidInput, match=text):
        parse(arguments)


@pytest.mark.parametrize("rate", [10.0, 15.0, 19.9, 20.0, 1000.0])
@pytest.mark.parametrize("arms", [["arm:=PSM1"], ["arm:=PSM1,ECM"], ["--cart"]])
def test_no_node_refuses_a_rate_that_is_accepted(arms, rate) -> None:
    """From 10 to below 20 Hz the simulator ended: its setup_joint_rate was above its rate."""
    settings = {"arm_simulator": SimulatorSettings, "arm_bridge": BridgeSettings}
    for process in make_processes(parse([*arms, f"rate:={rate}"])):
        if process.executable in settings:
            lists = {k: tuple(v) for k, v in process.parameters.items() if isinstance(v, list)}
            settings[process.executable](**{**process.parameters, **lists}).check()


@pytest.mark.parametrize("word", ["true", "True", "TRUE", "1", "yes", "on"])
def test_true_and_false_are_read_as_people_write_them(word) -> None:
    opposite = {"true": "false", "True": "False", "TRUE": "FALSE", "1": "0", "yes": "no"}
    assert parse([f"rviz:={word}"]).rviz
    assert not parse([f"servers:={opposite.get(word, 'off')}"]).servers


def test_several_arms_are_named_once_or_one_by_one() -> None:
    assert parse(["arm:=PSM1, ECM"]) == parse(["--arm", "PSM1", "arm:=ECM"])
    assert parse(["arm:=PSM1,ECM"]).arms == ("PSM1", "ECM")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("velocity_scale: 0.1\n", "has no ros__parameters at 'velocity_scale'"),
        ("bridge_PSM1: {velocity_scale: 0.1}\n", "at 'bridge_PSM1/velocity_scale'"),
        ("ros__parameters: {velocity_scale: 0.1}\n", "at 'ros__parameters/velocity_scale'"),
        ("/**: {ros__parameters: 3}\n", "at '/\\*\\*'"),
        ("- 3\n", "has no ros__parameters at its start"),
        ("", "has no ros__parameters at its start"),
        ("a: [1\n", "is not YAML: while parsing"),
    ],
)
def test_parameters_that_no_node_could_read_are_refused(tmp_path, text, sentence) -> None:
    file = tmp_path / "more.yaml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=sentence):
        parse([f"params_file:={file}"])
    file.write_text("/lab: {bridge_PSM1: {ros__parameters: {velocity_scale: 0.1}}}\n")
    assert parse([f"params_file:={file}"]).params_file == str(file)


def test_a_program_that_is_not_installed_is_done_without_or_named() -> None:
    missing = Process("rviz2-that-is-not-there", package="rviz", is_optional=True)
    needed, shell = Process("arm_bridge"), Process("sh", package="nowhere")
    processes, told = leave_out_missing([needed, missing, shell])
    assert [process.label for process in processes] == ["arm_bridge", "sh"]
    assert Path(processes[1].executable).is_file()
    assert told == ("rviz2-that-is-not-there is not installed; going on without it",)
    with pytest.raises(MissingExtra, match="rviz2-that-is-not-there is not installed; nothing"):
        leave_out_missing([missing])


def test_every_serial_arm_of_the_models_can_be_started() -> None:
    serial = [name for name in arm_names() if load_model(name).kind == "ARM"]
    assert {"RVM1", "CYBER310"} <= set(serial) and (*CART, *serial) == ARMS
    for arm in serial:
        processes = _by_label(parse([f"arm:={arm}"]))
        assert list(processes) == [
            *("arm_simulator", f"bridge_{arm}", "kinematics_server", "trajectory_server")
        ]
        assert processes["arm_simulator"].parameters["arms"] == [arm]
        assert "instrument" not in processes[f"bridge_{arm}"].parameters


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (["instrument:=nonsense"], UnknownName, "instrument 'nonsense'; valid: BOWEL"),
        (["arm:=RVM1", "instrument:=nonsense"], InvalidInput, "RVM1 carries none"),
        (["arm:=RVM1", "instrument:=400006"], InvalidInput, "RVM1 carries none"),
        (["instrument:=420006"], InvalidInput, "Si"),
        (["generation:=Si"], InvalidInput, "Si arms are not simulated"),
        (["arm:=RVM1", "generation:=Si", "hardware:=dvrk"], UnknownName, "generation of RVM1"),
    ],
)
def test_instruments_and_generations_are_checked_before_anything_starts(
    arguments, error, text
) -> None:
    with pytest.raises(error, match=text):
        parse(arguments)


def test_one_arm_may_do_without_a_prefix_and_several_with_their_names_in_it() -> None:
    assert _by_label(parse(["prefix:=none"]))["bridge_PSM1"].parameters["prefix"] == ""
    both = _by_label(parse(["arm:=PSM1,PSM2", "prefix:=lab/{arm}/", "namespace:=/lab/left"]))
    assert both["bridge_PSM2"].parameters["prefix"] == "lab/{arm}/"


def test_a_real_arm_may_be_an_si() -> None:
    bridge = _by_label(parse(["generation:=Si", "hardware:=dvrk"]))["bridge_PSM1"]
    assert bridge.parameters["generation"] == "Si"


def test_the_instruments_are_listed_where_they_are_asked_for() -> None:
    (instrument,) = [argument for argument in ARGUMENTS if argument.name == "instrument"]
    assert all(name in instrument.description for name in instrument_names())


def test_unknown_arguments_and_instruments_are_refused() -> None:
    with pytest.raises(InvalidInput, match="there are: arm, hardware"):
        read_system({"robot": "PSM1"})
    with pytest.raises(UnknownName):
        make_processes(System(arms=("HAL",)))


def test_recording_and_rviz_are_added_on_request() -> None:
    processes = _by_label(parse(["--cart", "record:=true", "rviz:=true", "output:=/tmp/b"]))
    assert "--output" in processes["record"].arguments
    assert processes["rviz2"].arguments[0] == "-d"
    assert Path(processes["rviz2"].arguments[1]).is_file()


def test_the_bag_of_a_cart_holds_what_each_setup_joint_arm_says() -> None:
    told = _by_label(parse(["--cart", "record:=true"]))["record"].arguments
    arms = told[told.index("--arms") + 1 :]
    assert arms == (*CART, "SUJ", *(f"SUJ/{arm}" for arm in CART))
    topics = {topic.name for topic in choose_topics(arms, ["standard"])}
    shown = {"/SUJ/joint_states", "/SUJ/robot_description"}
    assert shown | {f"/SUJ/{arm}/measured_js" for arm in CART} <= topics


def test_the_command_record_gets_no_arguments_of_ros(tmp_path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text("{}")
    told = [f"params_file:={file}", "log_level:=debug", "namespace:=lab", "record:=true"]
    command = command_line(_by_label(parse(told))["record"])
    assert "--ros-args" not in command
    assert command[command.index("--namespace") + 1] == "lab"
    (launched,) = LAUNCHES["record"].make({"arm": "PSM1", "namespace": "lab"})
    assert command_line(launched) == command
