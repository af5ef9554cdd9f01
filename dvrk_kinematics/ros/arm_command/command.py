"""The command ./dvrk arm: inspects, brings up, moves and stops one arm through its bridge."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence

from rclpy.node import Node

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.arm_command.arm_client import ArmClient, ArmOutcome
from dvrk_kinematics.ros.arm_command.arm_status import describe_status, summarise_status
from dvrk_kinematics.ros.arm_command.jog_request import read_jog, run_jog
from dvrk_kinematics.ros.arm_command.read_target import find_duration, read_target
from dvrk_kinematics.ros.client.run_client import run_client
from dvrk_kinematics.ros.common.own_command import own_command
from dvrk_kinematics.ros.common.quantity import Quantity, read_quantity
from dvrk_kinematics.ros.common.terminal import Page

__all__ = ["carry_out", "main", "parse"]

_SERVICES = {
    "enable": "power the arm; nothing is sent to an arm before this",
    "home": "home the arm, which may move it; Ctrl-C asks it to hold",
    "hold": "stop what moves, along its path",
    "pause": "stop at once, and ignore commands until resumed",
    "resume": "end a pause",
    "disable": "take the power off at once",
}
_EXAMPLES = """\
examples:
  {arm} PSM1 status
  {arm} PSM1 enable
  {arm} PSM1 home
  {arm} PSM1 go yaw=10deg insertion=120mm          joints; those not named stay
  {arm} PSM1 go z+=-5mm --time 2s                  the tip in PSM1_base, its orientation kept
  {arm} PSM1 jog x 5mm/s 2s                        the tip along the base's x
  {arm} PSM1 jog wrist_pitch -10deg/s 1s           one joint
  {arm} PSM1 jaw 30deg

Numbers take deg or rad, mm or m, s or ms; plain ones are rad, m and s. The exit code is 0 if it
was done, 1 if it was refused or failed, 130 after Ctrl-C."""
_NAMESPACE = "where the arm's names begin"
_WATCH_S = 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one thing with one arm, and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, ros = _split_ros(given)
    options = parse(own)

    def work(node: Node) -> int:
        return carry_out(ArmClient(node, options.arm), options)

    if options.namespace:
        ros += ["--ros-args", "-r", f"__ns:=/{options.namespace.strip('/')}"]
    return run_client("arm", work, ["arm", *ros])


def carry_out(client: ArmClient, options: argparse.Namespace) -> int:
    """Execute a command line, and return the exit code.

    Raises:
        DvrkError: It cannot be done; states why.
    """
    return _VERBS.get(options.verb, _call)(client, options)


def _split_ros(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split the arguments into our own and those of ROS."""
    cut = arguments.index("--ros-args") if "--ros-args" in arguments else len(arguments)
    return arguments[:cut], arguments[cut:]


def _call(client: ArmClient, options: argparse.Namespace) -> int:
    try:
        outcome = client.trigger(options.verb)
    except KeyboardInterrupt:
        if options.verb == "home":
            # An arm homes on its own: we request it, and the arm's software decides.
            _say(f"{client.name}: hold: {client.trigger('hold').message}")
        raise
    return _tell(client, options.verb, outcome)


def _status(client: ArmClient, _: argparse.Namespace) -> int:
    _say(describe_status(client.read_status()))
    return 0


def _watch(client: ArmClient, options: argparse.Namespace) -> int:
    deadline_s = time.monotonic() + options.duration
    page, is_first = Page(sys.stdout), True
    try:
        while time.monotonic() < deadline_s:
            status, is_first = client.read_status(is_patient=is_first), False
            if sys.stdout.isatty():
                page.draw(describe_status(status))
            else:
                _say(summarise_status(status))
            time.sleep(min(_WATCH_S, max(0.0, deadline_s - time.monotonic())))
    except KeyboardInterrupt:
        pass
    return 0


def _go(client: ArmClient, options: argparse.Namespace) -> int:
    q, facts = client.read_joints(), client.facts
    target = read_target(facts.arm, q, options.targets)
    seconds = options.time or find_duration(q, target, facts.limits, options.speed)
    _say(f"{client.name}: going there in {seconds:.1f} s; Ctrl-C stops")
    return _tell(client, "go", client.go(target, seconds))


def _jaw(client: ArmClient, options: argparse.Namespace) -> int:
    return _tell(client, "jaw", client.open_jaw(options.opening))


def _jog(client: ArmClient, options: argparse.Namespace) -> int:
    jog = read_jog(client.facts, options.axis, options.speed, "tool" if options.tool else "")
    return _tell(client, "jog", run_jog(client, jog, options.duration))


_VERBS: dict[str, Callable[[ArmClient, argparse.Namespace], int]] = {
    "status": _status,
    "watch": _watch,
    "go": _go,
    "jaw": _jaw,
    "jog": _jog,
}


def _tell(client: ArmClient, verb: str, outcome: ArmOutcome) -> int:
    if outcome.is_done:
        _say(f"{client.name}: {verb}: {outcome.message}")
        return 0
    sys.stderr.write(f"{client.name}: {verb}: {outcome.message}\n")
    return 1


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; an invalid one ends the process with 2, as argparse does."""
    command = own_command("arm")
    parser = argparse.ArgumentParser(
        prog=command,
        description="Look at one arm, bring it up, move it and stop it, through its bridge.",
        epilog=_EXAMPLES.format(arm=command),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--namespace", default="", metavar="NAME", help=_NAMESPACE)
    parser.add_argument("arm", metavar="ARM", help="name of the arm, such as PSM1")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def add(name: str, text: str) -> argparse.ArgumentParser:
        verb: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
        # It also counts after the verb; if absent there, it must not undo an earlier value.
        verb.add_argument(
            "--namespace", default=argparse.SUPPRESS, metavar="NAME", help=_NAMESPACE
        )
        return verb

    add("status", "state, joints, tip, limits, last stop and refusal")
    watch = add("watch", "the same again and again, until Ctrl-C")
    watch.add_argument(
        "duration", nargs="?", type=_duration, default=float("inf"), help="such as 10s"
    )
    for name, text in _SERVICES.items():
        add(name, text)
    _add_go_arguments(add("go", "go to joint positions, or to a pose of the tip"))
    _add_jog_arguments(add("jog", "move along an axis or by a joint for a while"))
    jaw = add("jaw", "open or close the jaw")
    jaw.add_argument("opening", type=_opening, help="such as 30deg or 0.5rad")
    # A number such as -5mm/s is not an option; with a leading space, argparse accepts it.
    marked = [f" {text}" if re.match(r"-[.\d]", text) else text for text in arguments]
    return parser.parse_args(marked)


def _add_go_arguments(go: argparse.ArgumentParser) -> None:
    go.add_argument(
        "targets",
        nargs="+",
        metavar="NAME=VALUE",
        help="joints (yaw=10deg), or the tip in the arm's base (x=0 y=5mm z=-110mm "
        "quaternion=0,1,0,0); NAME+=VALUE adds to what is; what is not named stays",
    )
    go.add_argument("--time", type=_duration, help="how long it shall take, such as 3s")
    go.add_argument(
        "--speed",
        type=_part,
        default=0.2,
        help="without --time: part of the joints' largest speed (default: 0.2)",
    )


def _add_jog_arguments(jog: argparse.ArgumentParser) -> None:
    jog.add_argument("axis", metavar="AXIS", help="x, y, z, rx, ry, rz of the tip, or a joint")
    jog.add_argument("speed", metavar="SPEED", help="such as 5mm/s or -10deg/s")
    jog.add_argument("duration", metavar="TIME", type=_duration, help="such as 2s")
    jog.add_argument("--tool", action="store_true", help="along the tool's axes, not the base's")


def _opening(text: str) -> float:
    return _read("opening", text, Quantity.ANGLE)


def _duration(text: str) -> float:
    value = _read("time", text, Quantity.TIME)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f"{text.strip()} is not allowed; more than 0 s is")
    return value


def _part(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text.strip()!r} is not a part; 0.01 to 1 is")
    return value


def _read(name: str, text: str, quantity: Quantity) -> float:
    try:
        return read_quantity(name, text, quantity)
    except InvalidInput as error:
        raise argparse.ArgumentTypeError(error.reason) from None


if __name__ == "__main__":
    sys.exit(main())
