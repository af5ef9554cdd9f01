"""Plays the Block-O through the bridge to a simulated arm, beside a bare loop in the same run.

*Off the exact path* is the distance of every setpoint_cp of the arm, less what the controller's
rounded joint offsets make of it (0.6 um RMS), from the nearest point of the exact figure: the
planned path's deviation and the contour error together. *Lag* is how much later than planned it
was there; two periods and the ticks missed are allowed. If the guard stops a try, as it does when
the machine has no time for 50 ms, we count it and start again; the figures are those of the last
try. If that was stopped too, what only a complete one proves is called unproven. *Latency* is the
time from the sending of a measured_js to that of the joint_states with its stamp, both by the
middleware's own clock. Then we slow a slow motion of one joint to half of its speed, repeatedly.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.bridge.figure import plan_figure
from bench.domain import use_own_domain
from bench.kinematics.report import table
from bench.loop.ticks import PERIOD_S, TickFigures, sum_up
from bench.machine import describe_machine
from bench.processes import ROOT, processes
from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.common.conversions import cp_to_matrices

OUTPUT = ROOT / ".dvrk" / "bench" / "bridge"
PARTS = ("bridge", "simulator", "bare")


class Figure(NamedTuple):
    """One figure next to the project's promise.

    Attributes:
        name: What it is, with its unit.
        value: What was measured.
        limit: The promised maximum; infinity where nothing is promised.
        is_whole: Whether everything that the promise covers was measured.
    """

    name: str
    value: float
    limit: float = float("inf")
    is_whole: bool = True

    @property
    def verdict(self) -> str:
        """Whether the promise was kept; empty where there is none."""
        if self.limit == float("inf"):
            return ""
        if self.value > self.limit:
            return "missed"
        return "kept" if self.is_whole else "unproven"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and keep the figures as JSON."""
    parser = argparse.ArgumentParser(prog="./dvrk bench bridge", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="least length of the figure")
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="how long it is then repeated, for the memory"
    )
    parser.add_argument(
        "--tries", type=int, default=3, help="how often to begin anew, if the guard stops it"
    )
    parser.add_argument(
        "--slow-downs", type=int, default=20, help="motions that are slowed, five times each"
    )
    options = parser.parse_args(arguments)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    use_own_domain()
    report = play(options.seconds, options.minutes, options.tries, options.slow_downs)
    ticks = {part: sum_up(np.load(OUTPUT / f"{part}.npy"), *report["window_ns"]) for part in PARTS}
    figures = compare(report, ticks, options.seconds)
    end = "\n".join([*report["stops"], "" if report["error"] else report["text"]])
    print(f"\n{describe_machine()}\n\n{render(figures, ticks)}\n\n{end}")
    kept = {"figures": [figure._asdict() for figure in figures], "goal": report}
    kept["ticks"] = {part: found._asdict() for part, found in ticks.items()}
    (OUTPUT / "figures.json").write_text(json.dumps(kept, indent=1))
    return 0


def play(seconds: float, minutes: float, tries: int, slow_downs: int) -> dict[str, Any]:
    """Run all processes, and return the client's report."""
    files = {part: str(OUTPUT / f"{part}.npy") for part in (*PARTS, "memory")}
    answer = OUTPUT / "client.json"
    bridge = ["bench.bridge.process", "--ticks", files["bridge"], "--memory", files["memory"]]
    commands = [
        ["bench.loop.bare", "--ticks", files["bare"]],
        ["bench.simulator.process", "--ticks", files["simulator"]],
        bridge,
    ]
    client = ["bench.bridge.client", "--report", str(answer), "--seconds", str(seconds)]
    client += ["--heard", str(OUTPUT / "heard.npz"), "--minutes", str(minutes)]
    client += ["--tries", str(tries), "--slow-downs", str(slow_downs)]
    with processes(commands):
        subprocess.run([sys.executable, "-m", *client], cwd=ROOT, check=True)
    report: dict[str, Any] = json.loads(answer.read_text())
    return report


def compare(report: dict[str, Any], ticks: dict[str, TickFigures], seconds: float) -> list[Figure]:
    """Compare the recorded data with the exact figure, and all results with the promises."""
    heard = np.load(OUTPUT / "heard.npz")
    plan = plan_figure(load_arm("PSM"), seconds)
    missed = ticks["bridge"].missed + ticks["simulator"].missed
    times, poses = find_motion(heard["setpoint_cp"], report["begin_ns"], plan.duration_s)
    window_s = 0.5 + PERIOD_S * missed + find_lateness(report["text"])
    errors = plan.path.contour_errors(times, as_ideal_arm(cp_to_matrices(poses)[0]), window_s)
    latency_ms = find_latency(heard["measured_js"], heard["joint_states"])
    growth, span = find_growth(np.load(OUTPUT / "memory.npy"), report["window_ns"][0])
    bridge, bare = ticks["bridge"], ticks["bare"]
    lag_ms = 1e3 * PERIOD_S * (2 + missed)
    is_whole = not report["error"]
    unplayed = 0.0 if is_whole else 100.0 * (1.0 - float(times[-1]) / plan.duration_s)
    return [
        Figure("figure not played, %", unplayed, 0.0),
        Figure("tries that the guard stopped", float(len(report["stops"])), 0.0),
        Figure(
            f"off the exact path, {len(times)} poses, um",
            1e6 * errors.position.max(),
            2.0,
            is_whole,
        ),
        Figure("off the exact path, urad", 1e6 * errors.rotation.max(), 2.0, is_whole),
        Figure("lag p50, ms", 1e3 * float(np.median(errors.lag_s))),
        Figure("lag max, ms", 1e3 * errors.lag_s.max(), lag_ms, is_whole),
        Figure("period p99 to bare loop", bridge.p99_ms / bare.p99_ms, 1.5),
        Figure("latency p50, ms", float(np.percentile(latency_ms, 50))),
        Figure("latency p99, ms", float(np.percentile(latency_ms, 99))),
        Figure("latency max, ms", float(latency_ms.max())),
        *find_slow_down(report["slow_down_s"]),
        Figure("CPU of the bridge, % of a core", bridge.cpu_percent, 35.0),
        Figure(f"memory growth in {span:.0f} s, MB", growth),
    ]


def find_motion(setpoints: Array, begin_ns: int, duration_s: float) -> tuple[Array, Array]:
    """Times (s) on the plan and poses (N, 7) of setpoints, from its start to their last change.

    A motion that stopped early is compared up to its stop.
    """
    times = (setpoints[:, 0] - begin_ns) * 1e-9
    changes = np.flatnonzero(np.any(np.diff(setpoints[:, 2:], axis=0), axis=1))
    rows = (times > 0.0) & (times < duration_s) & (np.arange(len(times)) <= changes[-1] + 1)
    return times[rows], setpoints[rows, 2:]


def as_ideal_arm(T: Array) -> Array:
    """Poses of the ideal arm for those that the controller reports, shape (N, 4, 4)."""
    q = load_arm("PSM", zero="controller").inverse_batch(T).q
    return load_arm("PSM").forward(q)


def find_latency(measured: Array, shown: Array) -> Array:
    """Time from the sending of a state to that of its joint_states (ms), for each of them."""
    _, a, b = np.intersect1d(measured[:, 0], shown[:, 0], return_indices=True)
    latency: Array = (shown[b, 1] - measured[a, 1]) * 1e-6
    return latency


def find_lateness(text: str) -> float:
    """How late a motion was by its own result (s): a slow-down is not a path error."""
    found = re.search(r"([0-9.]+) ms late", text)
    return 0.0 if found is None else 1e-3 * float(found[1])


def find_slow_down(latencies_s: Sequence[float]) -> list[Figure]:
    """From speed_scaling_input to the first slower setpoint, next to the loop's period."""
    what = f"from speed_scaling_input to a slower setpoint, {len(latencies_s)} times"
    latencies_ms = 1e3 * np.array(latencies_s or [np.nan])
    p50, p99 = np.percentile(latencies_ms, [50, 99])
    return [
        Figure(f"{what}: p50, ms", float(p50)),
        Figure("the same: p99, ms", float(p99)),
        Figure("the same: p50 in periods", float(p50) * 1e-3 / PERIOD_S),
    ]


def find_growth(memory: Array, begin_ns: int) -> tuple[float, float]:
    """How much more memory was held at the end than at the start (MB), and how long that was (s).

    The first ten seconds do not count: in them messages arrive for the first time.
    """
    part = memory[memory[:, 0] >= min(begin_ns + 10e9, memory[-2, 0])]
    return (
        float(part[-1, 1] - part[0, 1]) * 1e-6,
        float(part[-1, 0] - part[0, 0]) * 1e-9,
    )


def render(figures: Sequence[Figure], ticks: dict[str, TickFigures]) -> str:
    """Both tables in Markdown."""
    promises = table(
        ["figure", "measured", "promised", ""],
        [
            [
                figure.name,
                f"{figure.value:.4g}",
                "" if figure.limit == float("inf") else f"at most {figure.limit:g}",
                figure.verdict,
            ]
            for figure in figures
        ],
    )
    loops = table(
        ["loop", "period p50 / p99 / max, ms", "missed of ticks", "CPU, % of a core"],
        [
            [
                part,
                f"{found.p50_ms:.2f} / {found.p99_ms:.2f} / {found.max_ms:.1f}",
                f"{found.missed} of {found.ticks + found.missed}",
                f"{found.cpu_percent:.1f}",
            ]
            for part, found in ticks.items()
        ],
    )
    return f"{promises}\n\n{loops}"


if __name__ == "__main__":
    sys.exit(main())
