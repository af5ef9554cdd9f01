"""The command ./dvrk up: the processes of a system, as the launch files start them."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

from dvrk_kinematics.errors import DvrkError, InvalidInput
from dvrk_kinematics.ros.bringup.leave_out_missing import leave_out_missing
from dvrk_kinematics.ros.bringup.supervisor import Supervisor
from dvrk_kinematics.ros.bringup.system import SIMULATED, System, make_processes
from dvrk_kinematics.ros.bringup.system_arguments import ARGUMENTS, read_system
from dvrk_kinematics.ros.common.arm_roster import CART
from dvrk_kinematics.ros.common.interruptions import StopRequest, stop_signals
from dvrk_kinematics.ros.common.terminal import write_out

__all__ = ["main", "parse"]


def parse(arguments: Sequence[str]) -> System:
    """Read the command line, with ``name:=value`` as ``--name value``.

    Raises:
        DvrkError: The arguments make no sense.
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
        default = f"; default: {argument.default}" if argument.default else ""
        parser.add_argument(
            f"--{argument.name}",
            action="append",
            metavar="VALUE",
            help=f"{argument.help}{default}".replace("%", "%%"),
        )
    given = vars(parser.parse_args([_as_option(text) for text in arguments]))
    is_cart = given.pop("cart")
    values = {name: texts[-1] for name, texts in given.items() if texts}
    if given["arm"]:
        values["arm"] = ",".join(given["arm"])
    if not is_cart:
        return read_system(values)
    if given["arm"]:
        reason = f"--cart starts {', '.join(CART)}; leave one of the two out"
        raise InvalidInput("arm", reason)
    return read_system(values, CART, has_setup_joints=True)


def _as_option(text: str) -> str:
    name, mark, value = text.partition(":=")
    if mark and not name.startswith("-"):
        return f"--{name}={value}"
    name, mark, value = text.partition("=")
    if mark and name in (argument.name for argument in ARGUMENTS):
        raise InvalidInput(name, f"write {name}:={value} or --{name}={value}, not {text}")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until Ctrl-C, and return the exit code."""
    try:
        system = parse(sys.argv[1:] if arguments is None else arguments)
        processes, left_out = leave_out_missing(make_processes(system))
    except DvrkError as error:
        write_out(sys.stderr, f"dvrk up: {error}\n")
        return 1
    stop = StopRequest()
    for number in stop_signals():
        signal.signal(number, stop.hear)
    for sentence in left_out:
        _say(sentence)
    try:
        with Supervisor(processes, _say) as running:
            names = ", ".join(process.label for process in processes)
            _say(f"started {names}; Ctrl-C ends them")
            if system.hardware != SIMULATED:
                _say(f"{', '.join(system.arms)} are REAL arms; nothing is sent before enable")
            where = f" --namespace {system.namespace}" if system.namespace else ""
            _say(f"next, in another terminal: ./dvrk arm {system.arms[0]} status{where}")
            return running.wait(stop)
    except DvrkError as error:
        write_out(sys.stderr, f"dvrk up: {error}\n")
        return 1


_lock = threading.Lock()


def _say(line: str) -> None:
    with _lock:
        # The reader of this output may be gone, the arms are not: go on silently.
        write_out(sys.stdout, f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
