"""The page about launch files says what the launch files take."""

from __future__ import annotations

import re
from pathlib import Path

from dvrk_kinematics.ros.bringup.launch import LAUNCHES
from dvrk_kinematics.ros.bringup.system_arguments import ARGUMENTS, Argument

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "launch.md"


def read_rows(text: str, head: str) -> list[list[str]]:
    """The cells of the table below a head."""
    table = text.partition(f"| {head} |")[2].partition("\n\n")[0]
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]
    ]


def read_arguments(text: str) -> list[tuple[str, str, tuple[str, ...], str]]:
    """Name, default, values allowed and meaning of every argument of a table."""
    return [
        (name.strip("`"), default.strip("`"), tuple(re.findall(r"`([^`]+)`", allowed)), meaning)
        for name, default, allowed, meaning in read_rows(
            text, "argument | default | allowed | meaning"
        )
    ]


def describe(argument: Argument) -> tuple[str, str, tuple[str, ...], str]:
    """The same of an argument; what a list of all instruments would add is left out."""
    choices = tuple(filter(None, argument.choices))
    meaning = argument.description.partition("; there are:")[0].partition("; valid:")[0]
    return argument.name, argument.default, choices, meaning


def test_the_page_lists_every_argument_of_a_system() -> None:
    assert read_arguments(PAGE.read_text("utf-8")) == [describe(a) for a in ARGUMENTS]


def test_the_page_lists_what_the_block_o_takes_besides() -> None:
    _, _, more = PAGE.read_text("utf-8").partition("`block_o.launch.py` takes two more")
    assert read_arguments(more) == [describe(a) for a in LAUNCHES["block_o"].extra]


def test_the_page_says_which_file_takes_which_arguments() -> None:
    every = {argument.name for argument in ARGUMENTS}
    meant = {
        "all below": every,
        "all but `arm`": every - {"arm"},
        "all, `scale` and `orientation`": every | {"scale", "orientation"},
    }
    said = {}
    for file, _, arguments in read_rows(
        PAGE.read_text("utf-8"), "file | what it starts | arguments"
    ):
        name = file.strip("`").removesuffix(".launch.py")
        said[name] = meant.get(arguments) or set(re.findall(r"`(\w+)`", arguments))
    assert said == {
        name: {argument.name for argument in launch.declared} for name, launch in LAUNCHES.items()
    }
