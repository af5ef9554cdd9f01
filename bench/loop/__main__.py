"""Runs the stand-ins in several arrangements, each beside a bare loop, and prints one table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.domain import use_own_domain
from bench.loop.load import Load, make_goal, open_load
from bench.loop.ticks import TickFigures, sum_up
from bench.machine import describe_machine
from bench.processes import ROOT, processes

OUTPUT = ROOT / ".dvrk" / "bench" / "loop"
ARMS = ["PSM1", "PSM2", "PSM3", "ECM", "MTMR"]


class Arrangement(NamedTuple):
    """How arms are distributed over bridge processes."""

    name: str
    edge: str
    bridges: list[list[str]]

    @property
    def arms(self) -> list[str]:
        """All arms."""
        return [arm for bridge in self.bridges for arm in bridge]


ARRANGEMENTS = [
    Arrangement("1 arm, ordinary", "ordinary", [ARMS[:1]]),
    Arrangement("1 arm, patched", "patched", [ARMS[:1]]),
    Arrangement("1 arm, polled", "polled", [ARMS[:1]]),
    Arrangement("5 arms, 5 bridges, ordinary", "ordinary", [[arm] for arm in ARMS]),
    Arrangement("5 arms, 5 bridges, polled", "polled", [[arm] for arm in ARMS]),
    Arrangement("5 arms, 1 bridge, polled", "polled", [ARMS]),
]


class Row(NamedTuple):
    """One line of the table: the worst bridge of an arrangement, beside the bare loop."""

    arrangement: str
    phase: str
    bridge: TickFigures
    arm: TickFigures
    bare: TickFigures

    @property
    def ratio(self) -> float:
        """p99 of the bridge's period over that of the bare loop."""
        return self.bridge.p99_ms / self.bare.p99_ms


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and keep the figures as JSON."""
    parser = argparse.ArgumentParser(prog="./dvrk bench loop", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the steady phase")
    parser.add_argument("--only", default="", help="only arrangements with this in their name")
    options = parser.parse_args(arguments)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    use_own_domain()
    goals = {points: make_goal(points) for points in (2000, 20_000)}
    rows: list[Row] = []
    for arrangement in ARRANGEMENTS:
        if options.only in arrangement.name:
            print(f"{arrangement.name} ...", file=sys.stderr, flush=True)
            rows += measure(arrangement, goals, options.seconds)
    print(f"\n{describe_machine()}\n\n{render(rows)}")
    report = [row._asdict() | {"ratio": row.ratio} for row in rows]
    for entry in report:
        entry |= {part: entry[part]._asdict() for part in ("bridge", "arm", "bare")}
    (OUTPUT / "figures.json").write_text(json.dumps(report, indent=1))
    return 0


def measure(arrangement: Arrangement, goals: dict[int, Any], seconds: float) -> list[Row]:
    """Run one arrangement through all its phases."""
    files = {"bare": OUTPUT / "bare.npy", "arm": OUTPUT / "arm.npy"}
    files |= {f"bridge{k}": OUTPUT / f"bridge{k}.npy" for k in range(len(arrangement.bridges))}
    commands = [["bench.loop.bare", "--ticks", str(files["bare"])]]
    edge = ["--edge", arrangement.edge]
    commands += [
        ["bench.loop.arm", "--ticks", str(files["arm"]), *edge, "--arms", *arrangement.arms]
    ]
    for k, arms in enumerate(arrangement.bridges):
        commands += [
            ["bench.loop.bridge", "--ticks", str(files[f"bridge{k}"]), *edge, "--arms", *arms]
        ]
    with processes(commands), open_load(arrangement.arms) as load:
        load.wait_until_ready()
        load.call_for(2.0)
        windows = run_phases(load, goals, seconds)
    notes = {name: np.load(file) for name, file in files.items()}
    rows = []
    for phase, (begin, end) in windows.items():
        figures = {name: sum_up(part, begin, end) for name, part in notes.items()}
        bridges = [figures[name] for name in figures if name.startswith("bridge")]
        worst = max(bridges, key=lambda bridge: bridge.p99_ms)
        mean_cpu = float(np.mean([bridge.cpu_percent for bridge in bridges]))
        worst = worst._replace(cpu_percent=mean_cpu)
        rows.append(Row(arrangement.name, phase, worst, figures["arm"], figures["bare"]))
    return rows


def run_phases(load: Load, goals: dict[int, Any], seconds: float) -> dict[str, tuple[int, int]]:
    """Go through the phases, and return when each began and ended (ns, monotonic)."""
    windows = {}
    begin = time.monotonic_ns()
    load.call_for(seconds)
    windows["steady"] = (begin, time.monotonic_ns())
    for points, times in ((2000, 5), (20_000, 3)):
        begin = time.monotonic_ns()
        load.send(goals[points], times, pause_s=0.5)
        windows[f"goals of {points}"] = (begin, time.monotonic_ns())
    return windows


def render(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    head = (
        "| arrangement | phase | period p50 / p99 / max, ms | missed of ticks | "
        "bare p99 / max, ms | bare missed | p99 to bare | CPU bridge / arms / bare, % |"
    )
    lines = [head, "|" + "---|" * 8]
    for row in rows:
        b, bare = row.bridge, row.bare
        lines.append(
            f"| {row.arrangement} | {row.phase} | "
            f"{b.p50_ms:.2f} / {b.p99_ms:.2f} / {b.max_ms:.1f} | "
            f"{b.missed} of {b.ticks + b.missed} | {bare.p99_ms:.2f} / {bare.max_ms:.1f} | "
            f"{bare.missed} | {row.ratio:.2f} | "
            f"{b.cpu_percent:.0f} / {row.arm.cpu_percent:.0f} / {bare.cpu_percent:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
