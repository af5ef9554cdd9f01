"""Runs the servers beside an empty service and a simulated arm, and prints two tables."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from bench.domain import use_own_domain
from bench.machine import describe_machine
from bench.processes import ROOT, processes
from bench.servers.calling import BATCH, RoundTrips, measure_round_trips
from bench.servers.tracing import Trace, get_ready, plan_placed, trace
from bench.system.client import SystemClient
from bench.system.usage import read_usage
from dvrk_kinematics.motion.figures.block_o import PRESETS
from dvrk_kinematics.ros.common.spinning_node import SpinningNode

OUTPUT = ROOT / ".dvrk" / "bench" / "servers"
PLACED_SCALE = 0.5
ARM = "PSM1"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and keep the figures as JSON."""
    parser = argparse.ArgumentParser(prog="./dvrk bench servers", description=__doc__)
    parser.add_argument("--calls", type=int, default=1000, help="round trips of one pose")
    parser.add_argument("--batches", type=int, default=30, help="round trips of a batch")
    parser.add_argument("--scale", type=float, default=0.1, help="of the figure that is traced")
    parser.add_argument("--presets", nargs="*", default=list(PRESETS), help="of the paper")
    parser.add_argument(
        "--turning", type=float, default=1.0, help="times the paper's turning speed"
    )
    parser.add_argument("--rest", type=float, default=20.0, help="seconds at rest")
    options = parser.parse_args(arguments)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    use_own_domain()
    trips = _in_node(measure_services, options.calls, options.batches)
    rest = _in_node(measure_rest, options.rest)
    place_s, traces = _in_node(measure_motions, options.scale, options.presets, options.turning)
    print(f"\n{describe_machine()}\n\n{render(trips, place_s, rest)}\n\n{render_traces(traces)}")
    figures = {
        "round_trips": trips._asdict() | {"ratio": trips.ratio},
        "place_and_plan_s": place_s,
        "rest_cpu_percent": rest,
        "traces": [
            one._asdict() | {"computed_s": one.computed_s, "is_in_time": one.is_in_time}
            for one in traces
        ],
    }
    (OUTPUT / "figures.json").write_text(json.dumps(figures, indent=1))
    return 0


def _in_node(measure: Any, *arguments: Any) -> Any:
    context = Context()
    rclpy.init(context=context)
    node = Node("bench_client", context=context)
    try:
        return measure(node, *arguments)
    finally:
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def measure_services(node: Node, calls: int, batches: int) -> RoundTrips:
    """The kinematics server beside an empty one."""
    servers = [["dvrk_kinematics.ros.servers.kinematics_server"], ["bench.servers.empty"]]
    with processes(servers), SpinningNode(node):
        return measure_round_trips(node, calls, batches)


def measure_rest(node: Node, seconds: float) -> dict[str, float]:
    """The servers' load while an arm publishes its state and no calls arrive (% of a core)."""
    servers = ["kinematics_server", "trajectory_server"]
    parts = [
        *([f"dvrk_kinematics.ros.servers.{server}"] for server in servers),
        ["dvrk_kinematics.ros.simulator.node"],
        ["dvrk_kinematics.ros.bridge.node"],
    ]
    with processes(parts) as pids, SpinningNode(node):
        SystemClient(node, (ARM,)).bring_up()
        before = [read_usage(pid).cpu_s for pid in pids]
        begin = time.monotonic()
        time.sleep(seconds)
        elapsed = time.monotonic() - begin
        used = [read_usage(pid).cpu_s - cpu_s for pid, cpu_s in zip(pids, before, strict=True)]
    return {server: 100.0 * cpu_s / elapsed for server, cpu_s in zip(servers, used, strict=False)}


def measure_motions(
    node: Node, scale: float, presets: Sequence[str], turning: float
) -> tuple[float, list[Trace]]:
    """A simulated arm with its bridge and the trajectory server."""
    parts = [
        ["dvrk_kinematics.ros.simulator.node"],
        ["dvrk_kinematics.ros.bridge.node"],
        ["dvrk_kinematics.ros.servers.trajectory_server"],
    ]
    with processes(parts), SpinningNode(node):
        get_ready(node, ARM)
        place_s, placed = plan_placed(node, ARM, PLACED_SCALE)
        if not placed.success:
            raise RuntimeError(placed.message)
        traces = []
        for preset in presets:
            print(f"test ({preset}) ...", file=sys.stderr, flush=True)
            traces.append(trace(node, ARM, scale, preset, turning))
        return place_s, traces


def render(trips: RoundTrips, place_s: float, rest: Mapping[str, float]) -> str:
    """The table of answers in Markdown."""
    rows = [
        (
            "empty service, round trip p50 / p10",
            f"{trips.empty_p50:.2f} / {trips.empty_p10:.2f} ms",
            "",
        ),
        (
            "solve_ik of one pose, round trip p50 / p10",
            f"{trips.one_p50:.2f} / {trips.one_p10:.2f} ms",
            "",
        ),
        ("one pose to empty service, p50", f"{trips.ratio:.2f}", "at most 1.5"),
        (
            f"solve_ik of {BATCH} poses ({trips.batch_ok} solved), p50 / best",
            f"{trips.batch_p50:.1f} / {trips.batch_best:.1f} ms",
            "under 40 ms",
        ),
        (f"Block-O of scale {PLACED_SCALE} placed and planned", f"{place_s:.2f} s", "under 5 s"),
        *(
            (f"{server} at rest beside an arm at 200 Hz", f"{cpu:.1f} % of a core", "under 2 %")
            for server, cpu in rest.items()
        ),
    ]
    lines = ["| what | measured | goal |", "|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def render_traces(traces: Sequence[Trace]) -> str:
    """The table of traced figures in Markdown."""
    lines = [
        "| test | planned, s | missed ticks | planned and missed ticks, s | took, s | tries | "
        "lag, s | off the exact path, um | urad | samples | goal | bridge |",
        "|" + "---|" * 12,
    ]
    for one in traces:
        is_on_path = one.position_um <= 2.0 and one.rotation_urad <= 2.0
        is_kept = one.success and is_on_path and one.is_in_time
        lines.append(
            f"| ({one.preset}) | {one.planned_s:.3f} | {one.missed_ticks} | "
            f"{one.computed_s:.3f} | {one.took_s:.3f} | {one.tries} | {one.lag_s:.3f} | "
            f"{one.position_um:.4f} | {one.rotation_urad:.4f} | {one.samples} | "
            f"{'kept' if is_kept else 'missed'} | {one.message} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
