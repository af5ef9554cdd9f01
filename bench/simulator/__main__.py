"""Runs the arm simulator in several arrangements beside a bare loop, and prints one table."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.domain import use_own_domain
from bench.loop.ticks import TickFigures, sum_up
from bench.machine import describe_machine
from bench.processes import ROOT, processes

OUTPUT = ROOT / ".dvrk" / "bench" / "simulator"
CART = ("PSM1", "PSM2", "PSM3", "ECM")


class Case(NamedTuple):
    """One arrangement.

    Attributes:
        name: Its name in the table.
        arms: The arms of the process.
        setup_joints: Whether they stand on setup joints.
        rate_hz: Rate of the simulator.
        topics: Which state topics are heard, of every arm: none, usual (measured and setpoint of
            joints, tip and jaw) or all.
        stream: Kinds of servo commands that are streamed to PSM1, one after the other.
        cpu_goal_percent: What the process may use of a core; 0 for no goal.
    """

    name: str
    arms: tuple[str, ...]
    setup_joints: bool
    rate_hz: float
    topics: str
    stream: tuple[str, ...] = ()
    cpu_goal_percent: float = 0.0


CASES = [
    Case("PSM1, nobody listens", ("PSM1",), False, 200.0, "none"),
    Case("PSM1, usual topics", ("PSM1",), False, 200.0, "usual", cpu_goal_percent=20.0),
    Case("PSM1, all topics, servo", ("PSM1",), False, 200.0, "all", ("servo_jp", "servo_jr")),
    Case("cart, usual topics", CART, True, 100.0, "usual", cpu_goal_percent=100.0),
    Case("cart, all topics", CART, True, 100.0, "all", cpu_goal_percent=100.0),
]


class Row(NamedTuple):
    """The result of one case."""

    case: Case
    simulator: TickFigures
    bare: TickFigures
    rates_hz: dict[str, float]
    streams: list[dict[str, Any]]

    @property
    def excess(self) -> float:
        """How late 99 of 100 ticks are at most, over that of the bare loop."""
        late = self.simulator.p99_ms - 1e3 / self.case.rate_hz
        return late / (self.bare.p99_ms - 5.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and keep the figures as JSON."""
    parser = argparse.ArgumentParser(prog="./dvrk bench simulator", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="length of each stream")
    parser.add_argument("--only", default="", help="only cases with this in their name")
    options = parser.parse_args(arguments)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    use_own_domain()
    rows = []
    for case in CASES:
        if options.only in case.name:
            print(f"{case.name} ...", file=sys.stderr, flush=True)
            seconds = options.seconds if case.stream else min(options.seconds, 20.0)
            rows.append(measure(case, seconds))
    print(f"\n{describe_machine()}\n\n{render(rows)}\n\n{render_streams(rows)}")
    report = [row._asdict() | {"excess": row.excess} for row in rows]
    for entry in report:
        entry |= {part: entry[part]._asdict() for part in ("case", "simulator", "bare")}
    (OUTPUT / "figures.json").write_text(json.dumps(report, indent=1))
    return 0


def measure(case: Case, seconds: float) -> Row:
    """Run one case."""
    files = {part: OUTPUT / f"{part}.npy" for part in ("simulator", "bare")}
    answer = OUTPUT / "client.json"
    simulator = ["bench.simulator.process", "--ticks", str(files["simulator"]), "--ros-args"]
    simulator += ["-p", f"arms:={json.dumps(case.arms)}", "-p", f"rate:={case.rate_hz}"]
    simulator += ["-p", f"setup_joints:={json.dumps(case.setup_joints)}"]
    client = ["bench.simulator.client", "--report", str(answer), "--seconds", str(seconds)]
    client += ["--topics", case.topics, "--arms", *case.arms, "--stream", *case.stream]
    client += ["--setup-joints"] if case.setup_joints else []
    with processes([simulator, ["bench.loop.bare", "--ticks", str(files["bare"])]]):
        subprocess.run([sys.executable, "-m", *client], cwd=ROOT, check=True)
    heard = json.loads(answer.read_text())
    figures = {
        part: sum_up(np.load(file), heard["begin_ns"], heard["end_ns"])
        for part, file in files.items()
    }
    return Row(
        case, figures["simulator"], figures["bare"], heard["rates_hz"], heard.get("streams", [])
    )


def render(rows: Sequence[Row]) -> str:
    """The table of all cases in Markdown."""
    lines = [
        "| case | rate, Hz | topics heard, Hz | period p50 / p99 / max, ms | missed of ticks | "
        "bare p99 / max, ms | bare missed | p99 late, to bare | CPU (bare), % of a core | goal |",
        "|" + "---|" * 10,
    ]
    for row in rows:
        s, bare, rates = row.simulator, row.bare, row.rates_hz
        slowest, fastest = min(rates.values(), default=0.0), max(rates.values(), default=0.0)
        heard = f"{len(rates)} at {slowest:.0f} to {fastest:.0f}" if rates else "none"
        goal = row.case.cpu_goal_percent
        lines.append(
            f"| {row.case.name} | {row.case.rate_hz:.0f} | {heard} | "
            f"{s.p50_ms:.2f} / {s.p99_ms:.2f} / {s.max_ms:.1f} | {s.missed} of "
            f"{s.ticks + s.missed} | {bare.p99_ms:.2f} / {bare.max_ms:.1f} | {bare.missed} | "
            f"{row.excess:.1f} | {s.cpu_percent:.1f} ({bare.cpu_percent:.1f}) | "
            f"{f'< {goal:.0f}' if goal else ''} |"
        )
    return "\n".join(lines)


def render_streams(rows: Sequence[Row]) -> str:
    """The table of servo streams in Markdown."""
    lines = ["| stream | sent | last applied | in order | seen in setpoint_js |", "|" + "---|" * 5]
    lines += [
        f"| {s['kind']} | {s['sent']} | {s['last_applied']} | "
        f"{'yes' if s['in_order'] else 'no'} | {s['seen_in_setpoint_js']} |"
        for row in rows
        for s in row.streams
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
