"""The command ./dvrk record: ``ros2 bag record`` if rosbag2 is installed, else our recorder.

Both record the same topics with the same quality of service, and write the same kind of bag.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ament_index_python.packages import get_packages_with_prefixes

from dvrk_kinematics.bags.bag_reader import BagReader
from dvrk_kinematics.errors import DvrkError, InvalidInput, OutputError
from dvrk_kinematics.ros.bringup.processes import command_line, recording
from dvrk_kinematics.ros.common.own_command import own_command
from dvrk_kinematics.ros.common.user_path import user_path
from dvrk_kinematics.ros.recorder.recorder_child import run_for
from dvrk_kinematics.ros.recorder.settings import default_folder
from dvrk_kinematics.ros.recorder.topics import (
    STANDARD,
    choose_topics,
    find_unheard,
    qos_overrides,
)

__all__ = ["has_rosbag2", "main", "rosbag2_command"]


def has_rosbag2() -> bool:
    """Return whether ``ros2 bag record -s mcap`` can run."""
    installed = get_packages_with_prefixes()
    packages = ("ros2bag", "rosbag2_storage_mcap")
    return shutil.which("ros2") is not None and all(name in installed for name in packages)


def rosbag2_command(folder: Path, topics: Sequence[str], overrides: Path) -> list[str]:
    """Return the command that records with rosbag2.

    Args:
        folder: Folder for the bag.
        topics: Absolute names.
        overrides: File with the quality of service that latched topics need.
    """
    return [
        *("ros2", "bag", "record", "--storage", "mcap", "--output", str(folder)),
        # We subscribe to commands before anybody sends them, and an action's topics are hidden.
        *("--include-unpublished-topics", "--include-hidden-topics"),
        *("--qos-profile-overrides-path", str(overrides), "--disable-keyboard-controls"),
        *("--topics", *topics),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    options = _parse(arguments)
    try:
        return _record(options)
    except DvrkError as error:
        sys.stderr.write(f"record: {error}\n")
        return 1


def _record(options: argparse.Namespace) -> int:
    folder = _folder(options.output) if options.output else default_folder()
    if not has_rosbag2():
        process = recording(
            options.arms, folder, options.namespace, options.topics, options.duration
        )
        command = command_line(process)
        os.execve(command[0], command, {**os.environ, **process.environment})
    topics = choose_topics(options.arms, options.topics, options.namespace)
    with TemporaryDirectory() as scratch:
        overrides = Path(scratch, "qos_overrides.yaml")
        overrides.write_text(qos_overrides(topics), encoding="utf-8")
        _make_folder(folder.parent)
        command = rosbag2_command(folder, [topic.name for topic in topics], overrides)
        code = run_for(command, options.duration, os.environ)
    return code or _tell_unheard(options, folder)


def _tell_unheard(options: argparse.Namespace, folder: Path) -> int:
    """Report which arms are not in the bag; return 1 if there are any."""
    bag = BagReader(folder)
    recorded = {topic.name for topic in bag.topics if topic.count}
    bag.close()
    unheard = find_unheard(options.arms, options.topics, options.namespace, recorded)
    if unheard:
        sys.stderr.write(f"record: never heard: {', '.join(unheard)}\n")
    return int(bool(unheard))


def _folder(name: str) -> Path:
    """Return the folder for a name; it must not exist yet."""
    folder = user_path(name, "--output")
    try:
        if folder.exists():
            raise InvalidInput("--output", f"{folder} exists already; name another folder")
    except OSError as error:
        raise OutputError(name, error.strerror or str(error)) from error
    return folder


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(str(folder), error.strerror or str(error)) from error


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=own_command("record"),
        description="Record a rosbag2 (MCAP) until Ctrl-C.",
    )
    parser.add_argument(
        "--arms", nargs="+", default=["PSM1"], metavar="ARM", help="arms (default: PSM1)"
    )
    parser.add_argument(
        "--topics",
        nargs="+",
        default=[STANDARD],
        metavar="TOPIC",
        help=f"topics; the word {STANDARD} stands for those of config/recording/topics.yaml, "
        "which are the default",
    )
    parser.add_argument("--output", metavar="FOLDER", help="folder of the bag; must not exist")
    parser.add_argument(
        "--duration", type=_seconds, default=0.0, metavar="S", help="seconds; until Ctrl-C if 0"
    )
    parser.add_argument("--namespace", default="", help="where relative names begin")
    return parser.parse_args(arguments)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no duration; 0 or more seconds are")
    return value


if __name__ == "__main__":
    sys.exit(main())
