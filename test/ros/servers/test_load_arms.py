"""Which arms the servers answer for, by their parameters."""

from __future__ import annotations

import subprocess

import pytest

from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.ros.bringup.processes import Process, command_line
from dvrk_kinematics.ros.servers.load_arms import ArmSettings, load_arms

TIMEOUT_S = 60.0


def test_arms_are_known_by_name_and_carry_what_they_are_told_to() -> None:
    arms = load_arms(
        ArmSettings(
            arms=("PSM1", "PSM2", "lefty", "ECM", "RVM1"),
            models=("lefty:PSM",),
            instruments=("400093", "PSM2:400006"),
        )
    )
    carried = {name: arm.model.instrument for name, arm in arms.items()}
    assert {name: tool.name if tool else "" for name, tool in carried.items()} == {
        "PSM1": "PROGRASP_FORCEPS_400093",
        "PSM2": "LARGE_NEEDLE_DRIVER_400006",
        "lefty": "PROGRASP_FORCEPS_400093",
        "ECM": "",
        "RVM1": "",
    }
    assert [arm.model.name for arm in arms.values()] == ["PSM", "PSM", "PSM", "ECM", "RVM1"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ArmSettings(arms=()), "arms: needs one or more names"),
        (ArmSettings(arms=("PSM1", "PSM1")), "each once"),
        (ArmSettings(arms=("PSM9X",)), "PSM9X"),
        (ArmSettings(models=("PSM1:NONE",)), "NONE"),
        (ArmSettings(instruments=("999999",)), "999999"),
        (ArmSettings(instruments=("PSM2:400006",)), "is about PSM2; the arms are PSM1"),
        (ArmSettings(generation="Xi"), "Xi"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(settings: ArmSettings, words: str) -> None:
    with pytest.raises(DvrkError) as caught:
        load_arms(settings)
    assert words in str(caught.value)


@pytest.mark.parametrize("server", ["kinematics_server", "trajectory_server"])
def test_a_server_that_cannot_start_says_why(server: str, own_domain: None) -> None:
    ended = subprocess.run(
        command_line(Process(server, parameters={"arms": ["PSM1", "PSM9X"]})),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ended.returncode == 1
    assert "PSM9X" in ended.stderr and "Traceback" not in ended.stderr, ended.stderr
