"""The command ./dvrk demo: a simulated arm traces the Block-O, and what it did is measured."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from dvrk_kinematics.errors import CallFailed, DvrkError
from dvrk_kinematics.motion.block_o import PRESETS
from dvrk_kinematics.ros.block_o_client import BlockOClient, Trace
from dvrk_kinematics.ros.bringup import recording
from dvrk_kinematics.ros.demo_report import describe_plan, describe_result, is_traced
from dvrk_kinematics.ros.node_log import NodeLog
from dvrk_kinematics.ros.spinning import SpinningNode
from dvrk_kinematics.ros.supervisor import Supervisor
from dvrk_kinematics.ros.system import System, make_processes
from dvrk_kinematics.ros.trace_display import TraceDisplay

__all__ = ["main"]

_RECORDER = "recorder"
_BAG = "bag"
_CLOSE_S = 20.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; 0 if every figure was traced within its bounds."""
    options = _parse(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    folder: Path = options.output or _default_folder()
    if options.record and (folder / _BAG).exists():
        _say(f"demo: {folder / _BAG} exists already; name another folder with --output")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (folder / "nodes.log").open("w", encoding="utf-8") as log:
            return _run(options, folder, NodeLog(log))
    except DvrkError as error:
        _say(f"demo: {error}")
        _say(f"what the nodes said: {folder / 'nodes.log'}")
        return 1
    except KeyboardInterrupt:
        _say("demo: interrupted; everything was stopped")
        return 130


def _run(options: argparse.Namespace, folder: Path, log: NodeLog) -> int:
    processes = [*make_processes(System(arms=(options.arm,)))]
    bag = folder / _BAG
    if options.record:
        processes.append(recording([options.arm], bag))
    is_recorded = True
    with Supervisor(processes, log) as running:
        _say(f"started {', '.join(process.label for process in processes)} ...")
        results = _trace_all(options, running)
        if options.record:
            code = running.end(_RECORDER, _CLOSE_S)
            is_recorded = code == 0
            _say(f"{_RECORDER}: {log.last(_RECORDER)}")
            if not is_recorded:
                _say(f"{_RECORDER}: exit code {code}; the bag may not be whole")
    if is_recorded and options.record:
        _say(f"bag: {bag}")
        _report(bag, folder / "report.html")
    good = sum(results)
    _say(f"{good} of {len(results)} figures traced within 2 um and 2 urad of the exact figure")
    return 0 if good == len(results) and is_recorded else 1


def _trace_all(options: argparse.Namespace, running: Supervisor) -> list[bool]:
    """Bring the arm up and trace the figures; tells which were traced as they should."""
    begin = time.monotonic()
    traces = [Trace(options.scale, speeds) for speeds in PRESETS.values()]
    traces = traces if options.paper else [Trace(options.scale)]

    def check() -> None:
        ended = running.find_ended()
        if ended is not None:
            after_s = round(time.monotonic() - begin, 1)
            raise CallFailed(ended[0], after_s, f"ended with exit code {ended[1]}")

    # Signals are ours: an arm that moves can only be stopped while the context is valid.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node("demo")
    client = BlockOClient(node, options.arm, check)
    try:
        with SpinningNode(node):
            client.trigger("enable")
            if options.record:
                # Homing moves the arm, and all that moves shall be in the bag.
                client.wait_for_recorder()
            client.home()
            _say(f"{options.arm} is enabled and homed after {time.monotonic() - begin:.1f} s")
            return [_trace(client, trace, begin) for trace in traces]
    finally:
        client.close()
        node.destroy_node()
        rclpy.try_shutdown()


def _trace(client: BlockOClient, trace: Trace, begin: float) -> bool:
    speeds = trace.speeds
    _say(
        f"\nBlock-O at scale {trace.scale:g}, {speeds.speed * 1e3:g} mm/s, "
        f"{speeds.acceleration * 1e3:g} mm/s^2: looking for the place with the most room ..."
    )

    def show_plan(plan: Any) -> None:
        _say(f"flight plan, {time.monotonic() - begin:.1f} s after the command:")
        _say(describe_plan(plan))

    display = TraceDisplay(sys.stdout, show_plan)
    result = client.trace(trace, display.show)
    display.end(result.success)
    _say(describe_result(result, client.loop_figures()))
    return is_traced(result)


def _report(bag: Path, page: Path) -> None:
    """Make the report in a process of its own: it is an offline tool and knows nothing of ROS."""
    command = [sys.executable, "-m", "dvrk_kinematics.cli.report", str(bag)]
    done = subprocess.run([*command, "--output", str(page), "--png"], check=False)
    if done.returncode == 0:
        _say(f"report: {page}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dvrk demo", description=__doc__)
    parser.add_argument("--arm", default="PSM1", choices=("PSM1", "PSM2", "PSM3"), help="the arm")
    parser.add_argument(
        "--scale", type=float, default=0.5, help="size of the figure; 1 is the paper's"
    )
    parser.add_argument(
        "--paper",
        action="store_true",
        help="the four speeds of the paper's tests, one after the other (about five minutes)",
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where bag and report go")
    parser.add_argument(
        "--no-record", dest="record", action="store_false", help="neither bag nor report"
    )
    return parser.parse_args(arguments)


def _default_folder() -> Path:
    base = Path(os.environ.get("DVRK_DEMOS", "demos"))
    return base / time.strftime("%Y-%m-%d_%H-%M-%S")


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
