"""What every launch file starts, and what it takes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dvrk_kinematics.errors import DvrkError, InvalidInput
from dvrk_kinematics.ros.bringup.launch import LAUNCHES
from dvrk_kinematics.ros.bringup.processes import Process, command_line
from dvrk_kinematics.ros.bringup.system import System, make_processes
from dvrk_kinematics.ros.bringup.system_arguments import ARGUMENTS
from dvrk_kinematics.ros.bringup.up import parse
from dvrk_kinematics.ros.common.arm_roster import CART

SERVERS = ["kinematics_server", "trajectory_server"]
ARM = ["arm_simulator", "bridge_PSM1", *SERVERS]
EXPECTED = {
    "arm": ARM,
    "patient_cart": ["arm_simulator", *(f"bridge_{arm}" for arm in (*CART, "SUJ")), *SERVERS],
    "block_o": [*ARM, "trace_block_o"],
    "view": ["rviz2"],
    "record": ["record"],
}


def _make(name: str, **told: str) -> Sequence[Process]:
    launch = LAUNCHES[name]
    defaults = {argument.name: argument.default for argument in launch.declared}
    assert set(told) <= set(defaults)
    return launch.make({**defaults, **told})


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_every_launch_file_describes_its_arguments(name) -> None:
    for argument in LAUNCHES[name].declared:
        assert len(argument.description) > 10
        assert not argument.choices or argument.default in argument.choices


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_launch_files_start_what_they_say(name) -> None:
    assert [process.label for process in _make(name)] == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_in_a_namespace_all_processes_are_there(name) -> None:
    for process in _make(name, namespace="lab"):
        command = command_line(process)
        if process.executable == "record":
            assert command[command.index("--namespace") + 1] == "lab"
        else:
            assert "__ns:=/lab" in command


@pytest.mark.parametrize(
    ("name", "told"),
    [("arm", []), ("patient_cart", ["--cart"])],
)
def test_up_starts_the_same_as_the_launch_files(name, told) -> None:
    values = {"hardware": "dvrk", "record": "true", "log_level": "debug", "prefix": "x_{arm}_"}
    arguments = [f"{key}:={value}" for key, value in values.items()]
    assert list(_make(name, **values)) == list(make_processes(parse([*told, *arguments])))


def test_arm_and_cart_take_every_argument() -> None:
    every = [argument.name for argument in ARGUMENTS]
    assert [argument.name for argument in LAUNCHES["arm"].declared] == every
    assert [argument.name for argument in LAUNCHES["patient_cart"].declared] == every[1:]
    assert [argument.name for argument in LAUNCHES["block_o"].declared] == [
        *every,
        "scale",
        "orientation",
    ]


def test_the_block_o_is_enabled_by_itself_only_on_a_simulated_arm() -> None:
    assert "--bring-up" in _make("block_o")[-1].arguments
    assert _make("block_o", orientation="fixed")[-1].arguments[4:6] == ("--orientation", "fixed")
    assert "--bring-up" not in _make("block_o", bring_up="false")[-1].arguments
    real = _make("block_o", hardware="dvrk")
    assert [process.label for process in real] == [*EXPECTED["block_o"][1:]]
    assert "--bring-up" not in real[-1].arguments


@pytest.mark.parametrize(("arm", "joints"), [("RVM1", 5), ("ECM", 4)])
def test_the_block_o_is_refused_on_an_arm_with_too_few_joints(arm, joints) -> None:
    sentence = f"{arm} has {joints} joints, the figure needs 6; choose from PSM1, PSM2, PSM3, "
    with pytest.raises(InvalidInput, match=sentence):
        _make("block_o", arm=arm)
    assert _make("block_o", arm="CYBER310")[-1].arguments[:2] == ("--arm", "CYBER310")


@pytest.mark.parametrize("name", ["view", "record"])
def test_an_arm_that_is_not_there_is_refused(name) -> None:
    with pytest.raises(DvrkError, match="must be one of PSM1"):
        _make(name, arm="HAL")


@pytest.mark.parametrize("arms", ["PSM1,PSM1", "PSM1, PSM2, PSM1"])
def test_a_real_arm_that_is_named_twice_gets_no_two_bridges(arms) -> None:
    """Two bridges of one real arm were started, which then fought over it."""
    real = {"hardware": "dvrk", "servers": "false", "prefix": "none"}
    one_by_one = [text for arm in arms.split(",") for text in ("--arm", arm.strip())]
    for told in ([f"arm:={arms}"], one_by_one):
        with pytest.raises(InvalidInput, match="arm: PSM1 is named twice"):
            parse([*told, *(f"{name}:={value}" for name, value in real.items())])
    for name, launch in LAUNCHES.items():
        declared = {argument.name for argument in launch.declared}
        if "arm" in declared:
            values = {key: value for key, value in real.items() if key in declared}
            with pytest.raises(InvalidInput, match="arm: PSM1 is named twice"):
                _make(name, arm=arms, **values)
    with pytest.raises(InvalidInput, match="arm: PSM1 is named twice"):
        make_processes(System(arms=("PSM1", "PSM1"), hardware="dvrk", servers=False))
