"""Runs systems of one to five arms beside a bare loop of the same rate, and starts the demo."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import rclpy
from rclpy.node import Node

from bench.domain import use_own_domain
from bench.loop.ticks import sum_up
from bench.machine import describe_machine
from bench.processes import ROOT, processes
from bench.system.client import SystemClient
from bench.system.first_motion import measure_first_motion
from bench.system.usage import Usage, read_usage
from dvrk_kinematics.ros.bringup.supervisor import Supervisor
from dvrk_kinematics.ros.bringup.system import System, make_processes
from dvrk_kinematics.ros.common.arm_roster import CART
from dvrk_kinematics.ros.common.spinning_node import SpinningNode

OUTPUT = ROOT / ".dvrk" / "bench" / "system"


class Case(NamedTuple):
    """One system."""

    name: str
    system: System


CASES = [
    Case("PSM1 at 200 Hz", System(arms=("PSM1",))),
    Case("PSM1, PSM2 at 200 Hz", System(arms=("PSM1", "PSM2"))),
    Case("PSM1 to PSM3 at 200 Hz", System(arms=("PSM1", "PSM2", "PSM3"))),
    Case("cart at 100 Hz", System(arms=CART, has_setup_joints=True, rate=100.0)),
    Case("cart at 200 Hz", System(arms=CART, has_setup_joints=True, rate=200.0)),
]


class Row(NamedTuple):
    """The result of one case.

    Attributes:
        name: Its name.
        worst: Fraction of the ticks that the worst bridge made.
        bare: Fraction of the ticks that the bare loop made.
        cpu_percent: Processor time of each process, in % of a core.
        memory_mb: Memory of each process (MB).
    """

    name: str
    worst: float
    bare: float
    cpu_percent: dict[str, float]
    memory_mb: dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and keep the figures as JSON."""
    parser = argparse.ArgumentParser(prog="./dvrk bench system", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each measurement")
    parser.add_argument("--only", default="", help="only cases with this in their name")
    parser.add_argument("--starts", type=int, default=3, help="how often the demo is started")
    options = parser.parse_args(arguments)
    use_own_domain()
    rows = []
    for case in CASES:
        if options.only in case.name:
            print(f"{case.name} ...", file=sys.stderr, flush=True)
            rows.append(measure(case, options.seconds))
    print("first motion of ./dvrk demo ...", file=sys.stderr, flush=True)
    first_s = sorted(measure_first_motion() for _ in range(options.starts))
    print(f"\n{describe_machine()}\n\n{render(rows)}\n\n{render_first_motion(first_s)}")
    figures = {"systems": [row._asdict() for row in rows], "first_motion_s": first_s}
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "figures.json").write_text(json.dumps(figures, indent=1))
    return 0


def measure(case: Case, seconds: float) -> Row:
    """Run one system while its arms move."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    file = OUTPUT / "bare.npy"
    log: list[str] = []
    with (
        processes([["bench.loop.bare", "--rate", str(case.system.rate), "--ticks", str(file)]]),
        Supervisor(make_processes(case.system), log.append) as running,
    ):
        rclpy.init()
        node = Node("bench_system")
        try:
            with SpinningNode(node):
                client = SystemClient(node, case.system.arms)
                client.bring_up()
                goals = client.move(seconds + 20.0)
                before, used = client.read_ticks(), _read(running)
                begin = time.monotonic_ns()
                time.sleep(seconds)
                after, using = client.read_ticks(), _read(running)
                end = time.monotonic_ns()
                for goal in goals:
                    goal.cancel(30.0)
        finally:
            node.destroy_node()
            rclpy.try_shutdown()
    bare = sum_up(np.load(file), begin, end)
    elapsed = (end - begin) * 1e-9
    return Row(
        case.name,
        min(_part(before[arm], after[arm]) for arm in case.system.arms),
        bare.ticks / (bare.ticks + bare.missed),
        {name: 100.0 * (using[name].cpu_s - used[name].cpu_s) / elapsed for name in used},
        {name: using[name].memory_mb for name in using},
    )


def _read(running: Supervisor) -> dict[str, Usage]:
    return {name: read_usage(pid) for name, pid in running.pids.items()}


def _part(before: tuple[int, int], after: tuple[int, int]) -> float:
    made, missed = after[0] - before[0], after[1] - before[1]
    return made / max(made + missed, 1)


def render(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    head = (
        "| system | ticks of the worst bridge | bare loop | ratio | CPU of all, % of a core | "
        "memory of all, MB | CPU by process, % | memory by process, MB |"
    )
    lines = [head, "|" + "---|" * 8]
    for row in rows:
        cpu = ", ".join(f"{name} {value:.0f}" for name, value in row.cpu_percent.items())
        memory = ", ".join(f"{name} {value:.0f}" for name, value in row.memory_mb.items())
        lines.append(
            f"| {row.name} | {100.0 * row.worst:.1f} % | {100.0 * row.bare:.1f} % | "
            f"{row.worst / row.bare:.3f} | {sum(row.cpu_percent.values()):.0f} | "
            f"{sum(row.memory_mb.values()):.0f} | {cpu} | {memory} |"
        )
    return "\n".join(lines)


def render_first_motion(first_s: Sequence[float]) -> str:
    """How long ./dvrk demo takes until the arm moves, as a sentence."""
    if not first_s:
        return "first motion of ./dvrk demo: not measured"
    times = ", ".join(f"{seconds:.1f}" for seconds in first_s)
    return f"first motion of ./dvrk demo: {times} s after the command (5 s are allowed)"


if __name__ == "__main__":
    sys.exit(main())
