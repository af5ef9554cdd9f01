"""Reports the pick-and-place task of the CYBER 310 paper: which centres take the arm past a post.

    ./dvrk python -m dvrk_kinematics.cli.papers.obstacle_report                  prints the table
    ./dvrk python -m dvrk_kinematics.cli.papers.obstacle_report --output a.png   draws it too

The charts need requirements/render.txt.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics.cli.chart_sheet import COLOURS, sheet
from dvrk_kinematics.cli.papers.pick_and_place import (
    JointCurves,
    PickAndPlace,
    Post,
    clearance,
    curve_joints,
)
from dvrk_kinematics.cli.papers.run_report import run_report
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm, load_arm

__all__ = ["CENTRES", "draw", "main", "table"]

CENTRES: dict[str, tuple[float, ...]] = {
    "all joints together": (0.5, 0.5, 0.5, 0.5, 0.5, 0.5),
    "first up, then round": (0.7, 0.3, 0.3, 0.5, 0.3, 0.7),
    "first round, then up": (0.3, 0.7, 0.7, 0.5, 0.7, 0.3),
}
"""Centres A of waist, shoulder, elbow, forearm_roll, wrist_pitch and wrist_roll."""
_TICKS = [0.0, 0.1, 0.2, 0.3, 0.4]
_LINKS = ("base", "waist_link", "elbow_link", "forearm_roll_link", "tip")


def table(arm: Arm, task: PickAndPlace) -> str:
    """How close the arm comes to the post for each choice of centres."""
    lines = [f"{'centres':<22} {'nearest to the post':>20} {'at':>8}"]
    for name, centres in CENTRES.items():
        motion = curve_joints(arm, task, centres)
        gap = clearance(arm, motion.q, task.post)
        k = int(np.argmin(gap))
        what = "hits it" if gap[k] < 0.0 else "passes"
        lines.append(f"{name:<22} {1e3 * gap[k]:>17.1f} mm {motion.t[k]:>6.2f} s  {what}")
    return "\n".join(lines)


def draw(arm: Arm, task: PickAndPlace, file: Path) -> None:
    """Draws the paths past the post, the curves that make them, and the distance over time.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    motions = {name: curve_joints(arm, task, centres) for name, centres in CENTRES.items()}
    with sheet(file, 11.0, 6.4) as figure:
        # The module that matplotlib needs for 3D; installed with matplotlib.
        importlib.import_module("mpl_toolkits.mplot3d")
        grid = figure.add_gridspec(2, 2, width_ratios=[1.5, 1.0])
        _draw_scene(figure.add_subplot(grid[:, 0], projection="3d"), arm, task, motions)
        _draw_curves(figure.add_subplot(grid[0, 1]), arm, task)
        _draw_gaps(figure.add_subplot(grid[1, 1]), arm, task, motions)


def _draw_scene(
    axis: Any, arm: Arm, task: PickAndPlace, motions: Mapping[str, JointCurves]
) -> None:
    _draw_post(axis, task.post)
    for colour, (name, motion) in zip(COLOURS, motions.items(), strict=False):
        tip = arm.forward(motion.q)[:, :3, 3]
        axis.plot(*tip.T, color=colour, linewidth=2.2, label=name)
    hits, bent = motions["all joints together"], motions["first up, then round"]
    for q in (bent.q[0], bent.q[-1]):
        _draw_arm(axis, arm, q, COLOURS[4])
    for colour, motion in zip(COLOURS, (hits, bent), strict=False):
        nearest = int(np.argmin(clearance(arm, motion.q, task.post)))
        _draw_arm(axis, arm, motion.q[nearest], colour)
    axis.set(xlim=(-0.05, 0.4), ylim=(-0.25, 0.25), zlim=(0.0, 0.5))
    axis.set(xticks=_TICKS, yticks=[-0.2, -0.1, 0.0, 0.1, 0.2], zticks=[*_TICKS, 0.5])
    # Away from the numbers of its axis, which runs towards the reader.
    axis.set_xlabel("x, m", labelpad=12.0)
    axis.set(ylabel="y, m", zlabel="z, m")
    axis.set_box_aspect((0.45, 0.5, 0.5))
    axis.view_init(elev=22.0, azim=-32.0)
    axis.set_title(
        "Path of the tip; the arm at both ends, and where two moves are nearest the post"
    )
    axis.legend(loc="upper left")


def _draw_arm(axis: Any, arm: Arm, q: Array, colour: str) -> None:
    """Draws the arm at joint positions (rad), shape (n,), as a line through its joints."""
    frames = arm.frames(q)
    joints = np.array([frames[link][:3, 3] for link in _LINKS])
    axis.plot(*joints.T, "-o", color=colour, linewidth=2.0, markersize=3.5, alpha=0.8)


def _draw_post(axis: Any, post: Post) -> None:
    angle, height = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 40), [0.0, post.height])
    x, y = post.x + post.radius * np.cos(angle), post.y + post.radius * np.sin(angle)
    axis.plot_surface(x, y, height, color="#b04a3a", alpha=0.75)
    turn, rise = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 40), np.linspace(0.0, np.pi / 2, 12))
    axis.plot_surface(
        post.x + post.radius * np.cos(turn) * np.cos(rise),
        post.y + post.radius * np.sin(turn) * np.cos(rise),
        post.height + post.radius * np.sin(rise),
        color="#b04a3a",
        alpha=0.75,
    )


def _draw_curves(axis: Any, arm: Arm, task: PickAndPlace) -> None:
    motion = curve_joints(arm, task, CENTRES["first up, then round"])
    way = motion.q[-1] - motion.q[0]
    for colour, k in zip(COLOURS, (0, 1), strict=False):
        share = (motion.q[:, k] - motion.q[0, k]) / way[k]
        axis.plot(motion.t / task.duration_s, share, color=colour, label=arm.joint_names[k])
    axis.set(xlabel="τ", ylabel="part of the way")
    axis.set_title("First up, then round: A = 0.7 and 0.3, B = 0.2, D = 0.005")
    axis.legend()


def _draw_gaps(
    axis: Any, arm: Arm, task: PickAndPlace, motions: Mapping[str, JointCurves]
) -> None:
    for colour, (name, motion) in zip(COLOURS, motions.items(), strict=False):
        gap = 1e3 * clearance(arm, motion.q, task.post)
        axis.plot(motion.t, gap, color=colour, label=name)
    axis.axhspan(-60.0, 0.0, color="#b04a3a", alpha=0.15)
    axis.set(xlabel="s", ylabel="mm", ylim=(-60.0, None))
    axis.set_title("Distance between arm and post")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arm, task = load_arm("CYBER310"), PickAndPlace()
    return run_report(
        "obstacle_report",
        str(__doc__).splitlines()[0],
        lambda: table(arm, task),
        lambda file: draw(arm, task, file),
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
