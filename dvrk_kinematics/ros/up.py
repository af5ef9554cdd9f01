"""The command ./dvrk up: the processes of a system, as the launch files start them."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence

from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.ros.arm_roster import CART
from dvrk_kinematics.ros.stop_signals import stop_signals
from dvrk_kinematics.ros.supervisor import Supervisor
from dvrk_kinematics.ros.system import SIMULATED, System, make_processes
from dvrk_kinematics.ros.system_arguments import ARGUMENTS, read_system

__all__ = ["main", "parse"]


def parse(arguments: Sequence[str]) -> System:
    """Read the command line; ``name:=value`` is taken as ``--name value``.

    Raises:
        DvrkError: What was said makes no sense.
    """
    parser = argparse.ArgumentParser(
        prog="dvrk up",
        description="Start the nodes for one arm, several arms or the whole cart, until Ctrl-C. "
        "Arguments may be written as --arm PSM2 or as arm:=PSM2.",
    )
    parser.add_argument(
        "--cart",
        action="store_true",
        help=f"the patient cart: {', '.join(CART)} and their setup joints",
    )
    for argument in ARGUMENTS:
        choices = f" ({', '.join(filter(None, argument.choices))})" if argument.choices else ""
        default = f"; default: {argument.default}" if argument.default else ""
        parser.add_argument(
            f"--{argument.name}",
            action="append",
            metavar="VALUE",
            help=f"{argument.description}{choices}{default}".replace("%", "%%"),
        )
    given = vars(parser.parse_args([_as_option(text) for text in arguments]))
    is_cart = given.pop("cart")
    arms = tuple(CART) if is_cart else tuple(given.pop("arm") or ("PSM1",))
    given.pop("arm", None)
    for arm in arms:
        read_system({"arm": arm})
    values = {name: texts[-1] for name, texts in given.items() if texts}
    return read_system(values, arms, has_setup_joints=is_cart)


def _as_option(text: str) -> str:
    name, mark, value = text.partition(":=")
    return f"--{name}={value}" if mark and not name.startswith("-") else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until Ctrl-C; returns the exit code."""
    try:
        system = parse(sys.argv[1:] if arguments is None else arguments)
        processes = make_processes(system)
    except DvrkError as error:
        sys.stderr.write(f"dvrk up: {error}\n")
        return 1
    stop = threading.Event()
    for number in stop_signals():
        signal.signal(number, lambda *_: stop.set())
    try:
        with Supervisor(processes, _say) as running:
            names = ", ".join(process.label for process in processes)
            _say(f"started {names}; Ctrl-C ends them")
            if system.hardware != SIMULATED:
                _say(f"{', '.join(system.arms)} are REAL arms; nothing is sent before enable")
            return running.wait(stop)
    except DvrkError as error:
        sys.stderr.write(f"dvrk up: {error}\n")
        return 1


_lock = threading.Lock()


def _say(line: str) -> None:
    with _lock:
        try:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        except OSError:
            # Whoever read this is gone, the arms are not: go on without a word.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
