"""The measurements, as tables and as JSON, next to the project's promises."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.kinematics.cases import Row

__all__ = ["BARE", "OURS", "compare", "report", "write_json"]

OURS = "dvrk_kinematics"
BARE = "bare closed form"


def compare(rows: Sequence[Row], memory: dict[str, float]) -> list[dict[str, Any]]:
    """Compare the measurements with the project's promises."""

    def us(system: str, task: str) -> float:
        return next(r.us for r in rows if r.system.startswith(system) and r.task.startswith(task))

    bare, bare_batch = us(BARE, "inverse, near"), us(f"{BARE}, numpy", "inverse of")
    found = [
        ("inverse / bare inverse", us(OURS, "inverse, near") / bare, "at most", 3.0),
        ("batch / bare numpy batch", us(OURS, "inverse of") / bare_batch, "at most", 3.0),
        ("forward / bare inverse", us(OURS, "forward") / bare, "at most", 3.0),
        ("jacobian / bare inverse", us(OURS, "jacobian") / bare, "at most", 6.0),
        ("frames, us", us(OURS, "frames"), "at most", 80.0),
        (f"peak memory of {memory['poses']} poses, MB", memory["peak_mb"], "at most", 1000.0),
    ]
    if any(r.system.startswith("roboticstoolbox") for r in rows):
        ratio = us("roboticstoolbox", "inverse, far") / us(OURS, "inverse, far")
        found.append(("ik_LM / inverse, far seed", ratio, "at least", 8.0))
    return [
        {
            "figure": name,
            "value": value,
            "promise": f"{sense} {bound:g}",
            "kept": value <= bound if sense == "at most" else value >= bound,
        }
        for name, value, sense, bound in found
    ]


def table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Lay out a table that reads well as text and is a table in Markdown."""
    widths = [max(len(line[i]) for line in (header, *body)) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *body]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def row_cells(row: Row) -> list[str]:
    """Write one measured row."""
    verdict = row.verdict
    right = "" if verdict is None else f"{verdict.right} of {verdict.count}"
    inside = "" if verdict is None else f"{verdict.inside} of {verdict.count}"
    return [row.task, row.system, f"{row.us:.2f}", right, inside]


def report(rows: Sequence[Row], promises: Sequence[dict[str, Any]], machine: str) -> str:
    """Write both tables."""
    ordered = sorted(rows, key=lambda row: (row.task.split(",")[0].split(" ")[0], row.us))
    measured = table(
        ["task", "system", "us per call or pose", "right", "right and inside limits"],
        [row_cells(row) for row in ordered],
    )
    kept = table(
        ["figure", "measured", "promised", ""],
        [
            [p["figure"], f"{p['value']:.2f}", p["promise"], "kept" if p["kept"] else "missed"]
            for p in promises
        ],
    )
    return f"{machine}\n\n{measured}\n\n{kept}"


def write_json(
    path: Path,
    rows: Sequence[Row],
    promises: Sequence[dict[str, Any]],
    memory: dict[str, float],
    machine: str,
) -> None:
    """Write all measurements."""
    measured = [
        {
            "task": row.task,
            "system": row.system,
            "us": row.us,
            "right": None if row.verdict is None else row.verdict.right,
            "inside": None if row.verdict is None else row.verdict.inside,
            "count": row.items,
        }
        for row in rows
    ]
    content = {"machine": machine, "rows": measured, "figures": promises, "memory": memory}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")
