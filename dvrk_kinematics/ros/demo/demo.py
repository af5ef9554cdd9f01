"""The command ./dvrk demo: a simulated arm traces the Block-O, and what it did is measured."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node

from dvrk_kinematics.errors import CallFailed, DvrkError, MissingExtra
from dvrk_kinematics.motion.figures.block_o import PRESETS, QUICK
from dvrk_kinematics.motion.figures.figure import Orientation
from dvrk_kinematics.ros.bringup.processes import recording
from dvrk_kinematics.ros.bringup.supervisor import Supervisor
from dvrk_kinematics.ros.bringup.system import System, make_processes
from dvrk_kinematics.ros.client.run_client import run_with_node
from dvrk_kinematics.ros.common.end_times import END_S
from dvrk_kinematics.ros.common.interruptions import Interrupted, Interruptions
from dvrk_kinematics.ros.common.patience import Patience
from dvrk_kinematics.ros.common.terminal import Terminal
from dvrk_kinematics.ros.demo.block_o_client import BlockOClient, TracedFigure
from dvrk_kinematics.ros.demo.demo_report import describe_plan, describe_result, is_traced
from dvrk_kinematics.ros.demo.node_log import NodeLog
from dvrk_kinematics.ros.demo.trace_display import TraceDisplay

__all__ = ["main"]

_RECORDER = "recorder"
_BAG = "bag"
_LOG = "nodes.log"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration.

    Returns:
        Exit code: 0 if every figure was traced within its bounds, 1 if not; 130, 143 or 129 if it
        was interrupted by Ctrl-C, SIGTERM or a closed terminal.
    """
    options = _parse(arguments)
    terminal = Terminal(sys.stdout)
    folder: Path = options.output or _default_folder()
    if options.record and (folder / _BAG).exists():
        terminal.say(f"demo: {folder / _BAG} exists already; name another folder with --output")
        return 1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / _LOG).open("w", encoding="utf-8") as log:
            return _Demo(options, folder, terminal, NodeLog(log)).run()
    except MissingExtra as error:
        terminal.say(f"demo: {error}")
        return 1
    except OSError as error:
        terminal.say(f"demo: {error.filename or folder / _LOG}: {error.strerror}")
        return 1


@dataclass(frozen=True)
class _Demo:
    """One demonstration.

    Attributes:
        options: The user's options.
        folder: Folder for bag and report.
        terminal: Where to show progress.
        log: The output of the nodes.
        begin_s: When it started (s, monotonic).
    """

    options: argparse.Namespace
    folder: Path
    terminal: Terminal
    log: NodeLog
    begin_s: float = field(default_factory=time.monotonic)

    def run(self) -> int:
        """Start the nodes, trace, end them, and return the exit code."""
        processes = [*make_processes(System(arms=(self.options.arm,)))]
        if self.options.record:
            processes.append(recording([self.options.arm], self._bag))
        with Interruptions() as interruptions, Supervisor(processes, self.log) as running:
            labels = ", ".join(process.label for process in processes)
            self.terminal.say(f"started {labels} ...")
            return run_with_node("demo", partial(self._work, running, interruptions))

    def _work(self, running: Supervisor, interruptions: Interruptions, node: Node) -> int:
        """Do all the work, and turn its outcome into an exit code."""
        say = self.terminal.say
        is_recorded = self.options.record
        try:
            try:
                with interruptions.raised():
                    results = self._trace_all(running, node)
                    if self.options.record:
                        is_recorded = self._end_recorder(running)
            finally:
                running.stop()
            with interruptions.raised():
                if is_recorded:
                    say(f"bag: {self._bag}")
                    self._report(self.folder / "report.html")
        except DvrkError as error:
            say(f"demo: {error}")
            say(f"what the nodes said: {self.folder / _LOG}")
            return 1
        except Interrupted as told:
            say("demo: interrupted; everything was stopped")
            return told.exit_code
        good = sum(results)
        say(f"{good} of {len(results)} figures traced within 2 um and 2 urad of the exact figure")
        return 0 if good == len(results) and is_recorded == self.options.record else 1

    def _trace_all(self, running: Supervisor, node: Node) -> list[bool]:
        """Bring the arm up and trace the figures; return which were traced correctly."""
        options = self.options
        turned = Orientation(options.orientation)
        several = PRESETS.values() if options.paper else [QUICK]
        traces = [TracedFigure(options.scale, speeds, turned) for speeds in several]

        def check() -> None:
            ended = running.find_ended()
            if ended is not None:
                raise CallFailed(
                    ended[0], round(self._since_s, 1), f"ended with exit code {ended[1]}"
                )

        client = BlockOClient(node, options.arm, Patience(self.terminal.say, check))
        client.await_own_bridge(lambda process: process in running.pids.values())
        client.trigger("enable")
        if options.record:
            # Homing moves the arm, and the bag must hold every motion.
            client.wait_for_recorder()
        client.home()
        self.terminal.say(f"{options.arm} is enabled and homed after {self._since_s:.1f} s")
        return [self._trace(client, trace) for trace in traces]

    def _trace(self, client: BlockOClient, trace: TracedFigure) -> bool:
        speeds, say = trace.speeds, self.terminal.say
        say(
            f"\nBlock-O at scale {trace.scale:g}, {speeds.speed * 1e3:g} mm/s, "
            f"{speeds.acceleration * 1e3:g} mm/s^2: looking for the place with the most room ..."
        )

        def show_plan(plan: Any) -> None:
            say(f"flight plan, {self._since_s:.1f} s after the command:")
            say(describe_plan(plan))

        display = TraceDisplay(self.terminal, show_plan)
        result = client.trace(trace, display.show)
        display.end(result.success)
        say(describe_result(result, client.loop_figures()))
        return is_traced(result)

    def _end_recorder(self, running: Supervisor) -> bool:
        """Let the recorder close its bag, and return whether it did."""
        code = running.end(_RECORDER, END_S)
        self.terminal.say(f"{_RECORDER}: {self.log.last(_RECORDER)}")
        if code != 0:
            self.terminal.say(f"{_RECORDER}: exit code {code}; the bag may not be whole")
        return code == 0

    @property
    def _bag(self) -> Path:
        return self.folder / _BAG

    def _report(self, page: Path) -> None:
        """Make the report in a separate process: an offline tool that does not know ROS."""
        options = self.options
        figure = "Block-O at the speeds of the paper" if options.paper else "Block-O"
        title = f"{options.arm} traced the {figure}, at scale {options.scale:g}"
        command = [sys.executable, "-m", "dvrk_kinematics.cli.report", str(self._bag)]
        command += ["--output", str(page), "--png", "--title", title]
        done = subprocess.run(command, check=False)
        if done.returncode == 0:
            self.terminal.say(f"report: {page}")

    @property
    def _since_s(self) -> float:
        """Return the time since the start (s)."""
        return time.monotonic() - self.begin_s


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dvrk demo", description=__doc__)
    parser.add_argument("--arm", default="PSM1", choices=("PSM1", "PSM2", "PSM3"), help="the arm")
    parser.add_argument(
        "--scale", type=float, default=0.5, help="size of the figure; 1 is the paper's"
    )
    parser.add_argument(
        "--orientation",
        choices=[item.value for item in Orientation],
        default=Orientation.ALONG.value,
        help="turn the tool along the travel (the default), or keep its orientation fixed",
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


if __name__ == "__main__":
    sys.exit(main())
