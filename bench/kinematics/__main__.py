"""Kinematics of the PSM beside pinocchio, the Robotics Toolbox and the bare closed form.

Run as ``python -m bench.kinematics`` from the root of the project, or as ``./dvrk bench
kinematics``. The same poses go through every system in the same run; times are the best of several
passes. What is not installed is left out and said.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bench.kinematics.bare import bare_forward, bare_inverse, bare_inverse_batch
from bench.kinematics.cases import Cases, Row, best_times
from bench.kinematics.others import pinocchio_rows, toolbox_rows
from bench.kinematics.report import BARE, OURS, compare, report, write_json
from bench.machine import describe_machine
from dvrk_kinematics import load_arm

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]
MEMORY_CODE = """
import resource, sys
import numpy as np
from dvrk_kinematics import load_arm
arm = load_arm("PSM", instrument="400006")
count = int(sys.argv[1])
q = arm.random_q(np.random.default_rng(1), count)
T = np.empty((count, 4, 4))
for i in range(0, count, 10000):
    T[i:i + 10000] = arm.forward(q[i:i + 10000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
batch = arm.inverse_batch(T, seed=q)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before, int(batch.ok.sum()))
"""


def our_rows(cases: Cases, batch: Cases) -> list[Row]:
    """Make the rows of this project and of the bare closed form."""
    arm, count, many = cases.arm, len(cases.q), len(batch.q)
    q, T, near, far = list(cases.q), list(cases.T), list(cases.near), list(cases.far)
    T_frame6 = cases.T @ np.linalg.inv(arm.model.T_tip_offset)
    floats, q_floats = T_frame6.tolist(), cases.q.tolist()
    batch_frame6 = np.ascontiguousarray(batch.T @ np.linalg.inv(arm.model.T_tip_offset))
    a, b = arm.model.chain[5].a, -arm.model.chain[2].d - arm.model.chain[3].d
    bare_pairs = list(zip(floats, cases.near.tolist(), strict=True))
    numpy_version = f"numpy {np.__version__}"
    pairs_near, pairs_far = list(zip(T, near, strict=True)), list(zip(T, far, strict=True))
    return [
        Row(BARE, "forward", lambda: [bare_forward(x, a, b) for x in q_floats], count),
        Row(
            BARE,
            "inverse, near seed",
            lambda: [bare_inverse(t, s, a, b) for t, s in bare_pairs],
            count,
            cases.judge,
        ),
        Row(
            f"{BARE}, {numpy_version}",
            f"inverse of {many} poses",
            lambda: bare_inverse_batch(batch_frame6, batch.far, a, b),
            many,
            batch.judge,
        ),
        Row(OURS, "forward", lambda: [arm.forward(x) for x in q], count),
        Row(OURS, "jacobian", lambda: [arm.jacobian(x) for x in q], count),
        Row(
            OURS,
            f"frames of {len(arm.link_names)} links",
            lambda: [arm.frames(x) for x in q[:200]],
            len(q[:200]),
        ),
        Row(
            OURS,
            "inverse, near seed",
            lambda: [arm.inverse(t, seed=s).q for t, s in pairs_near],
            count,
            cases.judge,
        ),
        Row(
            OURS,
            "inverse, far seed",
            lambda: [arm.inverse(t, seed=s).q for t, s in pairs_far],
            count,
            cases.judge,
        ),
        Row(
            OURS,
            f"inverse of {many} poses",
            lambda: arm.inverse_batch(batch.T, seed=batch.far).q,
            many,
            batch.judge,
        ),
        Row(OURS, f"forward of {many} poses", lambda: arm.forward(batch.q), many),
    ]


def other_rows(cases: Cases) -> tuple[list[Row], list[str]]:
    """Make the rows of the installed systems, and name the missing ones."""
    makers: dict[str, Callable[[Cases], list[Row]]] = {
        "pinocchio": pinocchio_rows,
        "roboticstoolbox": toolbox_rows,
    }
    rows: list[Row] = []
    missing = []
    for name, make in makers.items():
        try:
            rows += make(cases)
        except ImportError as error:
            missing.append(f"{name} ({error})")
    return rows, missing


def peak_memory_mb(count: int) -> dict[str, float]:
    """Solve a batch in its own process and read its peak memory (MB)."""
    command = [sys.executable, "-c", MEMORY_CODE, str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    peak, before, solved = (int(word) for word in done.stdout.split())
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return {"poses": count, "peak_mb": peak / unit, "input_mb": before / unit, "solved": solved}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables and write them as JSON.

    Args:
        argv: Command-line arguments; those of the process by default.

    Returns:
        0; a missed figure is reported, not a failure, since machines are shared.
    """
    parser = argparse.ArgumentParser(prog="./dvrk bench kinematics", description=__doc__)
    parser.add_argument("--poses", type=int, default=1000, help="poses for single calls")
    parser.add_argument("--batch", type=int, default=100_000, help="poses of the batch")
    parser.add_argument("--memory", type=int, default=1_000_000, help="poses for peak memory")
    parser.add_argument("--passes", type=int, default=7, help="passes, of which the best counts")
    parser.add_argument("--seed", type=int, default=20260101, help="seed of the poses")
    parser.add_argument("--markdown", action="store_true", help="print the tables only")
    parser.add_argument(
        "--json", type=Path, default=ROOT / ".dvrk" / "bench" / "kinematics.json", help="output"
    )
    options = parser.parse_args(argv)
    arm = load_arm("PSM", instrument="400006")
    cases = Cases.draw(arm, options.poses, options.seed)
    others, missing = other_rows(cases)
    rows = [*our_rows(cases, Cases.draw(arm, options.batch, options.seed + 1)), *others]
    best_times(rows, options.passes)
    memory = peak_memory_mb(options.memory)
    promises = compare(rows, memory)
    machine = f"{describe_machine()}, numpy {np.__version__}"
    print(report(rows, promises, machine))
    for name in missing:
        print(f"\nnot measured: {name}", file=sys.stderr)
    write_json(options.json, rows, promises, memory, machine)
    if not options.markdown:
        print(f"\nwritten to {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
