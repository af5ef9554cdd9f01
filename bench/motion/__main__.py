"""Planning the Block-O at the four speeds of its paper, beside bare inverse kinematics.

Run as ``python -m bench.motion`` from the root of the project, or as ``./dvrk bench motion``. The
figure has half its size and is centred 0.1 m below the remote centre. A plan solves, proves and
knots every sample; *bare* is the closed form alone, in numpy, of the same samples. Times are the
best of several passes in the same run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.kinematics.bare import bare_inverse_batch
from bench.kinematics.report import table
from bench.machine import describe_machine
from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.figures.block_o import BLOCK_O, PRESETS, trace_figure
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.planning.planner import Plan, plan_motion
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]
DEPTH_M = 0.1
PROMISE_S = 0.5
"""What planning the slowest of the four should take at most."""
ROLL_SEED = -4.0
"""The figure turns the tool by 315 degrees, so it has to start near the end of the roll."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One speed.

    Attributes:
        speed: Of the tip (m/s).
        acceleration: Of the tip (m/s^2).
        duration_s: How long the figure takes (s).
        samples: Poses that were solved and proven.
        knots: Knots of the plan.
        position_deviation_um: Worst distance of what would be played from the figure (um).
        rotation_deviation_urad: Worst angle (urad).
        plan_s: Time of planning (s).
        plan_cpu_s: Processor time of planning (s): the time on a dedicated machine.
        bare_s: Time of bare inverse kinematics of as many samples (s).
    """

    speed: float
    acceleration: float
    duration_s: float
    samples: int
    knots: int
    position_deviation_um: float
    rotation_deviation_urad: float
    plan_s: float
    plan_cpu_s: float
    bare_s: float


def place_figure(scale: float) -> Array:
    """Centre the figure under the remote centre; return its pose in the base."""
    middle = 0.5 * scale * (BLOCK_O.corners.min(axis=0) + BLOCK_O.corners.max(axis=0))
    R = so3.rot_z(np.pi)
    return se3.make(R, [*-(R[:2, :2] @ middle[:2]), -DEPTH_M])


def measure(arm: Arm, speeds: TipSpeeds, scale: float, passes: int) -> Measured:
    """Plan the figure at one speed, several times, and solve its samples as often."""
    T_base_figure = place_figure(scale)
    first = BLOCK_O.poses(T_base_figure, scale)[0]
    q_start = arm.inverse(first, seed=[0.0, 0.0, DEPTH_M, ROLL_SEED, 0.0, 0.0]).q
    limits, rule = make_motion_limits(arm), make_cannula_rule(arm)

    def plan_once() -> Plan:
        segments = trace_figure(BLOCK_O, T_base_figure, scale, speeds)
        return plan_motion(arm, segments, q_start, limits, rule)

    plan = plan_once()
    flight = plan.flight_plan
    times = np.linspace(0.0, plan.duration_s, flight.samples)
    T_frame6 = plan.path.poses_at(times) @ np.linalg.inv(arm.model.T_tip_offset)
    seeds = np.broadcast_to(q_start, (len(times), 6))
    a, b = arm.model.chain[5].a, -arm.model.chain[2].d - arm.model.chain[3].d
    (plan_s, plan_cpu_s), (bare_s, _) = _best(
        (plan_once, lambda: bare_inverse_batch(T_frame6, seeds, a, b)), passes
    )
    return Measured(
        speeds.speed,
        speeds.acceleration,
        flight.duration,
        flight.samples,
        flight.knots,
        flight.position_deviation * 1e6,
        flight.rotation_deviation * 1e6,
        plan_s,
        plan_cpu_s,
        bare_s,
    )


def _best(tasks: Sequence[Callable[[], object]], passes: int) -> list[tuple[float, float]]:
    """The best time and the best processor time of each task (s), taken in turns."""
    best = [(float("inf"), float("inf"))] * len(tasks)
    for _ in range(passes):
        for k, task in enumerate(tasks):
            start, start_cpu = time.perf_counter(), time.process_time()
            task()
            took = time.perf_counter() - start, time.process_time() - start_cpu
            best[k] = min(best[k][0], took[0]), min(best[k][1], took[1])
    return best


def report(rows: Sequence[Measured]) -> str:
    """Lay the figures out as a table."""
    header = ["m/s, m/s^2", "figure, s", "samples", "knots", "off, um / urad"]
    header += ["planned in, s (CPU)", "bare, s", "us a sample (bare)"]
    body = [
        [
            f"{row.speed:g}, {row.acceleration:g}",
            f"{row.duration_s:.2f}",
            str(row.samples),
            str(row.knots),
            f"{row.position_deviation_um:.4f} / {row.rotation_deviation_urad:.4f}",
            f"{row.plan_s:.3f} ({row.plan_cpu_s:.3f})",
            f"{row.bare_s:.3f}",
            f"{1e6 * row.plan_s / row.samples:.1f} ({1e6 * row.bare_s / row.samples:.2f})",
        ]
        for row in rows
    ]
    return table(header, body)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table and write it as JSON.

    Args:
        argv: Command-line arguments; those of the process by default.

    Returns:
        0; a missed figure is reported, not a failure, since machines are shared.
    """
    parser = argparse.ArgumentParser(prog="./dvrk bench motion", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.5, help="size of the figure")
    parser.add_argument("--passes", type=int, default=7, help="passes, of which the best counts")
    parser.add_argument(
        "--json", type=Path, default=ROOT / ".dvrk" / "bench" / "motion.json", help="output"
    )
    options = parser.parse_args(argv)
    arm = load_arm("PSM", instrument="400006")
    rows = [measure(arm, speeds, options.scale, options.passes) for speeds in PRESETS.values()]
    machine = f"{describe_machine()}, numpy {np.__version__}"
    worst = max(row.plan_s for row in rows)
    verdict = "kept" if worst <= PROMISE_S else "missed"
    print(f"{machine}\n\n{report(rows)}\n")
    print(f"slowest plan {worst:.3f} s, promised at most {PROMISE_S:g} s: {verdict}")
    content = {"machine": machine, "rows": [asdict(row) for row in rows], "verdict": verdict}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(content, indent=2) + "\n")
    print(f"\nwritten to {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
