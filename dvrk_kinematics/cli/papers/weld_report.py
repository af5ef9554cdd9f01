"""Reports the weld task of the RV-M1 paper: figures as a table, charts as its figures 7 to 12.

    ./dvrk python -m dvrk_kinematics.cli.papers.weld_report            prints the table
    ./dvrk python -m dvrk_kinematics.cli.papers.weld_report --output weld_line.png     draws it too

The charts need requirements/render.txt.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics.cli.chart_sheet import COLOURS, sheet
from dvrk_kinematics.cli.papers.run_report import run_report
from dvrk_kinematics.cli.papers.weld_task import (
    Motion,
    WeldTask,
    approximate_weld,
    link_rates,
    off_the_line,
    sample_weld,
)
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm, load_arm

__all__ = ["draw", "main", "table"]

POINTS = (2, 4, 9, 19, 49, 98)
"""Numbers of points of the command MS in the table."""
_SHOWN = 4
"""Points of the approximation that the charts over time show next to the true line."""
_FINE = 2001
"""Samples of the approximation in the charts."""
_Y = 1


def table(arm: Arm, task: WeldTask) -> str:
    """Peaks along the true line, and the approximation's errors by its number of points."""
    motion = sample_weld(arm, task)
    lines = [
        f"seam of {1e3 * task.length:.0f} mm in {motion.t[-1]:.3f} s, {task.samples} samples",
        f"{'joint':<12} {'largest speed':>16} {'largest acceleration':>22}",
    ]
    for k, joint in enumerate(arm.joint_names):
        speed, second = np.abs(motion.qd[:, k]).max(), np.abs(motion.qdd[:, k]).max()
        lines.append(f"{joint:<12} {speed:>10.4f} rad/s {second:>14.4f} rad/s^2")
    lines += ["", "command MS, joints interpolated between n points:"]
    lines.append(f"{'n':>4} {'off the line':>14} {'velocity off by':>18} {'turning off by':>18}")
    for points in POINTS:
        linear, angular = _velocity_errors(arm, task, approximate_weld(arm, task, points))
        lines.append(
            f"{points:>4} {1e3 * off_the_line(arm, task, points):>11.4f} mm"
            f" {1e3 * linear.mean():>13.3f} mm/s {angular.mean():>12.1e} rad/s"
        )
    return "\n".join(lines)


def _velocity_errors(arm: Arm, task: WeldTask, motion: Motion) -> tuple[Array, Array]:
    """How far the tip's velocity is from that of the line: m/s and rad/s, shape (N,) each."""
    missed = arm.twist(motion.q, motion.qd) - task.velocity
    return np.linalg.norm(missed[:, :3], axis=1), np.linalg.norm(missed[:, 3:], axis=1)


def draw(arm: Arm, task: WeldTask, file: Path) -> None:
    """Draws the charts.

    Args:
        arm: The arm.
        task: The seam.
        file: The picture.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    true = sample_weld(arm, task)
    rough = approximate_weld(arm, _finely(task), _SHOWN)
    with sheet(file, 11.0, 12.0) as figure:
        axes = figure.subplots(4, 2)
        _draw_joints(axes[0], arm, true)
        _draw_link_speeds(axes[1, 0], arm, true, rough)
        _draw_link_rates(axes[1, 1], arm, true)
        _draw_paths(axes[2, 0], arm, task)
        _draw_deviation(axes[2, 1], arm, task)
        _draw_errors(axes[3], arm, task, rough)


def _finely(task: WeldTask) -> WeldTask:
    """The same seam with enough samples for the steps of MS to look like steps."""
    return replace(task, samples=_FINE)


def _draw_joints(axes: Any, arm: Arm, motion: Motion) -> None:
    for axis, values, unit in ((axes[0], motion.qd, "rad/s"), (axes[1], motion.qdd, "rad/s²")):
        for k in (1, 2, 3):
            axis.plot(motion.t, values[:, k], color=COLOURS[k - 1], label=arm.joint_names[k])
        axis.set(xlabel="s", ylabel=unit)
    axes[0].set_title("Joint velocities")
    axes[1].set_title("Joint accelerations")
    axes[0].legend(ncols=3)


def _draw_link_speeds(axis: Any, arm: Arm, true: Motion, rough: Motion) -> None:
    exact, stepped = (link_rates(arm, motion).velocity for motion in (true, rough))
    for k in (1, 2, 3):
        colour = COLOURS[k - 1]
        norm = np.linalg.norm(exact[:, k], axis=1)
        # Pale, so that the dots can be seen where both are the same, as for link 4.
        axis.plot(true.t, norm, color=colour, alpha=0.5, label=f"link {k + 1}")
        steps = np.linalg.norm(stepped[:, k], axis=1)
        axis.plot(rough.t, steps, ":", color=colour, linewidth=2.0, drawstyle="steps-post")
    axis.set(xlabel="s", ylabel="rad/s")
    axis.set_title(f"Link speeds in the fixed frame (fig. 7, 8); dotted: MS, n = {_SHOWN}")
    axis.legend(ncols=3)


def _draw_link_rates(axis: Any, arm: Arm, motion: Motion) -> None:
    rates = link_rates(arm, motion)
    for k in (1, 2):
        colour = COLOURS[k - 1]
        axis.plot(motion.t, rates.velocity[:, k, _Y], color=colour, label=f"link {k + 1}")
        axis.plot(motion.t, rates.acceleration[:, k, _Y], "--", color=colour)
    axis.set(xlabel="s", ylabel="rad/s, rad/s²")
    axis.set_title("Turning about y of the fixed frame (fig. 9); dashed: accelerations")
    axis.legend(ncols=2)


def _draw_paths(axis: Any, arm: Arm, task: WeldTask) -> None:
    for k, points in enumerate((2, 4, 9)):
        tip = 1e3 * arm.forward(approximate_weld(arm, _finely(task), points).q)[:, :3, 3]
        axis.plot(tip[:, 0], tip[:, 2], color=COLOURS[k], label=f"MS, n = {points}")
    axis.plot(*1e3 * np.array([task.start, task.end])[:, [0, 2]].T, "k--", label="the line")
    axis.set(xlabel="x, mm", ylabel="z, mm")
    axis.set_title("Path of the tip (fig. 10); x is stretched")
    # Room for the legend beside the widest path.
    left, right = axis.get_xlim()
    axis.set_xlim(left, right + 0.4 * (right - left))
    axis.legend(loc="center right")


def _draw_deviation(axis: Any, arm: Arm, task: WeldTask) -> None:
    points = np.unique(np.geomspace(2, 98, 25).astype(int))
    off = 1e3 * np.array([off_the_line(arm, task, int(n)) for n in points])
    axis.loglog(points, off, color=COLOURS[0], label="largest distance")
    square = off[-1] * ((points[-1] + 1) / (points + 1)) ** 2
    axis.loglog(points, square, ":", color=COLOURS[4], label="(n + 1)⁻²")
    axis.set(xlabel="n", ylabel="mm")
    axis.set_title("Off the line, by the number of points of MS")
    axis.legend()


def _draw_errors(axes: Any, arm: Arm, task: WeldTask, rough: Motion) -> None:
    missed = 1e3 * (arm.twist(rough.q, rough.qd) - task.velocity)
    for k, name in ((0, "x"), (2, "z")):
        axes[0].plot(rough.t, missed[:, k], color=COLOURS[k // 2], label=f"along {name}")
    axes[0].set_title(f"Velocity of the tip off by (fig. 11), MS with n = {_SHOWN}")
    axes[0].legend(ncols=2)
    for k, points in enumerate((2, 4, 9)):
        linear, _ = _velocity_errors(arm, task, approximate_weld(arm, _finely(task), points))
        axes[1].plot(rough.t, 1e3 * linear, color=COLOURS[k], label=f"n = {points}")
    axes[1].set_title("In all (fig. 12)")
    axes[1].legend(ncols=3)
    for axis in axes:
        axis.set(xlabel="s", ylabel="mm/s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arm, task = load_arm("RVM1"), WeldTask()
    return run_report(
        "weld_report",
        str(__doc__).splitlines()[0],
        lambda: table(arm, task),
        lambda file: draw(arm, task, file),
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
