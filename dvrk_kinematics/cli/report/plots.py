"""Draws the plots of a report with matplotlib, without a screen."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from dvrk_kinematics.cli.report.curves import ArmCurves
from dvrk_kinematics.cli.report.motion import slope
from dvrk_kinematics.cli.report.recording import RecordedSpeed
from dvrk_kinematics.cli.report.slow_downs import factor_at
from dvrk_kinematics.errors import MissingExtra
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["Plot", "draw_plots"]

_BLUE, _ORANGE, _GREY, _PALE = "#1f6fb4", "#d9730d", "#9aa3ad", "#b9c9d8"
_DPI = 110
_WIDTH = 10.0
_LONGEST_NAME = 40
_NARROWEST_MS = 0.01
_LIMIT = {"color": "#b3261e", "linewidth": 0.9, "linestyle": "--"}
_FLOORS = {
    ("", False): 1e-3,
    ("", True): 1e-4,
    ("/s", False): 1e-2,
    ("/s", True): 1e-3,
    ("/s²", False): 0.1,
    ("/s²", True): 1e-2,
}
"""Smallest ranges of joints' axes (by unit, and whether the joint slides): below this an arm's
sensors show little, and rounding must not look like motion."""
_ERROR_FLOORS = {"µm": 1.0, "µrad": 10.0, "ms": 1.0}
"""The same for errors."""
_STYLE = {
    "figure.facecolor": "white",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#e4e7ea",
    "font.size": 9,
    "lines.linewidth": 1.2,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
}


class Plot(NamedTuple):
    """One picture.

    Attributes:
        name: For file names, such as ``velocities``.
        title: Its heading.
        caption: What it shows.
        png: The picture.
    """

    name: str
    title: str
    caption: str
    png: bytes


def draw_plots(curves: ArmCurves) -> list[Plot]:
    """All plots of one arm.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    matplotlib = _matplotlib()
    figure_class = importlib.import_module("matplotlib.figure").Figure
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # A character missing from the font appears as a box; this needs no warning.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        plots = _joint_plots(figure_class, curves)
        if len(curves.tip):
            plots.append(_path(figure_class, curves))
        if curves.contours or curves.tip_tracking is not None:
            plots.append(_errors(figure_class, curves))
        if curves.scaling is not None and curves.slow_downs is not None:
            plots += [_speed(figure_class, curves, curves.scaling)] * bool(curves.slow_downs.count)
        if curves.state is not None or curves.command is not None:
            plots.append(_histogram(figure_class, curves))
    return plots


def _matplotlib() -> Any:
    try:
        return importlib.import_module("matplotlib")
    except ImportError as error:
        raise MissingExtra(
            "matplotlib", "install requirements/report.txt, or start with ./dvrk report"
        ) from error


def _sheet(figure_class: Any, height: float, head: float = 0.35) -> Any:
    """An empty figure (inches) with fixed margins: a layout engine takes longer than drawing."""
    figure = figure_class(figsize=(_WIDTH, height))
    edges = {"left": 0.08, "right": 0.985, "bottom": 0.5 / height, "top": 1.0 - head / height}
    figure.subplots_adjust(**edges, hspace=0.5, wspace=0.2)
    return figure


def _save(figure: Any) -> bytes:
    target = BytesIO()
    figure.savefig(target, format="png", dpi=_DPI)
    return target.getvalue()


class _Line(NamedTuple):
    """One curve for each joint.

    Attributes:
        label: What it is.
        times: Times (s), shape (N,).
        values: Values, shape (N, n).
        style: How it is drawn.
        is_framed: Whether the axis is scaled to fit it.
    """

    label: str
    times: Array
    values: Array
    style: Mapping[str, Any]
    is_framed: bool = True


_MEASURED: Mapping[str, Any] = {"color": _BLUE}
_BEHIND: Mapping[str, Any] = {"color": _ORANGE, "linewidth": 2.6, "alpha": 0.55}
_FAINT: Mapping[str, Any] = {"color": _PALE, "linewidth": 0.7}


def _joint_plots(figure_class: Any, curves: ArmCurves) -> list[Plot]:
    bounds, times = curves.bounds, curves.times
    setpoints = [] if curves.setpoint is None else [("setpoint_js", times, curves.setpoint)]
    planned = [(c.planned_times, slope(c.planned_times, c.planned_q)) for c in curves.contours]
    velocities = [("planned", at, qd) for at, qd in planned]
    accelerations = [("planned", at, slope(at, qd)) for at, qd in planned]

    def lines(behind: Sequence[tuple[str, Array, Array]], front: _Line) -> list[_Line]:
        return [*(_Line(*one, _BEHIND) for one in behind), front]

    position = lines(setpoints, _Line("measured_js", times, curves.position, _MEASURED))
    reported = _Line("as reported", times, curves.told_velocity, _FAINT, is_framed=False)
    velocity = lines(velocities, _Line("fitted to positions", times, curves.velocity, _MEASURED))
    fitted = _Line("fitted to positions", times, curves.acceleration, _MEASURED)
    clipped = "; spikes of reported velocities may leave the axis"
    return [
        Plot(
            "joints",
            "Joint positions",
            "measured and commanded, between the joint limits where these are near",
            _joints(figure_class, curves, position, "", (bounds.lower, bounds.upper)),
        ),
        Plot(
            "velocities",
            "Joint velocities",
            f"cubics fitted to measured_js over 0.1 s{clipped}",
            _joints(
                figure_class,
                curves,
                [reported, *velocity],
                "/s",
                (-bounds.velocity, bounds.velocity),
            ),
        ),
        Plot(
            "accelerations",
            "Joint accelerations",
            "cubics fitted to measured_js over 0.1 s",
            _joints(
                figure_class,
                curves,
                lines(accelerations, fitted),
                "/s²",
                (-bounds.acceleration, bounds.acceleration),
            ),
        ),
    ]


def _joints(
    figure_class: Any,
    curves: ArmCurves,
    lines: Sequence[_Line],
    per: str,
    bounds: tuple[Array, Array],
) -> bytes:
    """One small plot for each joint: rad and m do not share an axis."""
    count = len(curves.joint_names)
    rows = (count + 1) // 2
    figure = _sheet(figure_class, 1.7 * rows + 0.8, 0.65)
    for k, name in enumerate(curves.joint_names):
        axes = figure.add_subplot(rows, 2, k + 1)
        for line in lines:
            axes.plot(line.times, line.values[:, k], label=line.label, **line.style)
        unit = f"{curves.joint_units[k]}{per}"
        low, high = float(bounds[0][k]), float(bounds[1][k])
        axes.set_title(f"{_plain(name)}{_tell_limits(low, high, unit)}", parse_math=False)
        axes.set_ylabel(unit)
        axes.set_xlim(curves.times[0], curves.times[-1])
        shown = np.concatenate([line.values[:, k] for line in lines if line.is_framed])
        floor = _FLOORS[per, curves.joint_units[k] == "m"]
        axes.set_ylim(*_frame(shown, floor, (low, high)))
        for limit in (low, high):
            axes.axhline(limit, label="limit", **_LIMIT)
        if k >= count - 2:
            axes.set_xlabel("s since the bag began")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    legend = dict(zip(labels, handles, strict=True))
    figure.legend(legend.values(), legend.keys(), loc="upper right", ncols=4, frameon=False)
    return _save(figure)


def _tell_limits(low: float, high: float, unit: str) -> str:
    if not np.isfinite(high - low):
        return ""
    told = f"±{high:.3g}" if low == -high else f"{low:.3g} to {high:.3g}"
    return f"   (limits {told} {unit})"


def _frame(values: Array, floor: float, limits: tuple[float, float]) -> tuple[float, float]:
    """Range of an axis: that of the values shown, not narrower than an arm can measure.

    It includes limits that are close.
    """
    low, high = float(values.min()), float(values.max())
    missing = max(floor - (high - low), 0.0)
    low, high = low - 0.5 * missing, high + 0.5 * missing
    room = 0.08 * (high - low)
    near = 0.5 * (high - low)
    low = min(low, limits[0]) if low - limits[0] < near else low
    high = max(high, limits[1]) if limits[1] - high < near else high
    return low - room, high + room


def _plain(name: str) -> str:
    """A name in drawable form, whatever it contains."""
    shown = "".join(sign if sign.isprintable() else "?" for sign in name)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[:_LONGEST_NAME]}..."


def _path(figure_class: Any, curves: ArmCurves) -> Plot:
    figure = _sheet(figure_class, 6.4)
    axes = figure.add_subplot(projection="3d")
    for number, contour in enumerate(curves.contours):
        label = "planned" if number == 0 else None
        x, y, z = 1e3 * contour.planned_tip.T
        axes.plot(x, y, z, color=_ORANGE, linewidth=4.0, alpha=0.5, label=label)
    x, y, z = 1e3 * curves.tip.T
    axes.plot(x, y, z, color=_BLUE, label="measured")
    axes.set(xlabel="x (mm)", ylabel="y (mm)", zlabel="z (mm)")
    _same_scale(axes, 1e3 * curves.tip)
    axes.view_init(elev=35.0, azim=-60.0)
    axes.legend(loc="upper left")
    return Plot("path", "Path of the tip", curves.tip_source, _save(figure))


def _same_scale(axes: Any, points: Array) -> None:
    """A millimetre is as long along each axis; a flat path still gets some depth."""
    low, high = points.min(axis=0), points.max(axis=0)
    widest = max(float((high - low).max()), 1e-3)
    half = np.maximum(0.55 * (high - low), 0.1 * widest)
    middle = 0.5 * (low + high)
    axes.set(
        xlim=(middle[0] - half[0], middle[0] + half[0]),
        ylim=(middle[1] - half[1], middle[1] + half[1]),
        zlim=(middle[2] - half[2], middle[2] + half[2]),
    )
    axes.set_box_aspect(half / half.max(), zoom=1.1)
    ticks = importlib.import_module("matplotlib.ticker").MaxNLocator
    for axis, share in zip((axes.xaxis, axes.yaxis, axes.zaxis), half / half.max(), strict=True):
        axis.set_major_locator(ticks(max(2, round(8 * float(share)))))


def _errors(figure_class: Any, curves: ArmCurves) -> Plot:
    rows: list[tuple[str, str, Sequence[tuple[Array, Array]]]] = []
    if curves.contours:
        aside = [(c.times, 1e6 * c.following.position_error) for c in curves.contours]
        turned = [(c.times, 1e6 * c.following.rotation_error) for c in curves.contours]
        behind = [(c.times, 1e3 * c.following.lag) for c in curves.contours]
        rows += [("contour error: tip to the nearest point of its planned path", "µm", aside)]
        rows += [("contour error of the orientation there", "µrad", turned)]
        rows += [("lag behind the plan", "ms", behind)]
    if curves.tip_tracking is not None:
        tracking = [(curves.times, 1e6 * curves.tip_tracking)]
        rows += [("tracking error: measured tip to that of the setpoints", "µm", tracking)]
    figure = _sheet(figure_class, 1.8 * len(rows) + 0.5)
    for k, (title, unit, lines) in enumerate(rows):
        axes = figure.add_subplot(len(rows), 1, k + 1)
        for times, values in lines:
            axes.plot(times, values, color=_BLUE)
        axes.set_title(title)
        axes.set_ylabel(unit)
        shown = np.concatenate([values for _, values in lines])
        shown = shown[np.isfinite(shown)]
        if shown.size:
            shown = np.r_[0.0, _ERROR_FLOORS[unit], shown]
            ends = _frame(shown, 0.0, (-np.inf, np.inf))
            axes.set_ylim(*ends)
        axes.set_xlim(curves.times[0], curves.times[-1])
    axes.set_xlabel("s since the bag began")
    words = "contour and lag apart, then tracking" if curves.contours else "tracking; no plan"
    return Plot("error", "Error over time", words, _save(figure))


def _speed(figure_class: Any, curves: ArmCurves, scaling: RecordedSpeed) -> Plot:
    begin, end = float(curves.times[0]), float(curves.times[-1])
    changes = scaling.times[(scaling.times > begin) & (scaling.times < end)]
    times = np.r_[begin, changes, end]
    figure = _sheet(figure_class, 2.3)
    axes = figure.add_subplot()
    axes.step(times, factor_at(scaling, times), where="post", color=_BLUE)
    axes.set(xlabel="s since the bag began", ylabel="speed factor")
    axes.set(xlim=(begin, end), ylim=(-0.05, 1.05))
    words = "speed scaling of the bridge: 1 as planned, 0 at rest on the path"
    return Plot("speed", "Speed", words, _save(figure))


def _histogram(figure_class: Any, curves: ArmCurves) -> Plot:
    streams = [("servo_jp", curves.command), ("measured_js", curves.state)]
    shown = [(name, periods) for name, periods in streams if periods is not None]
    figure = _sheet(figure_class, 3.2)
    for k, (name, periods) in enumerate(shown):
        axes = figure.add_subplot(1, len(shown), k + 1)
        shortest, longest = 1e3 * periods.periods.min(), 1e3 * periods.periods.max()
        # Periods that are all the same need some width to be counted in.
        spare = max(0.0, 0.5 * (_NARROWEST_MS - (longest - shortest)))
        edges = np.linspace(shortest - spare, longest + spare, 81)
        axes.hist(1e3 * periods.periods, bins=edges, color=_BLUE)
        axes.axvline(1e3 * periods.p50, color=_ORANGE, label="median")
        axes.axvline(1e3 * periods.p99, color=_GREY, label="99 %")
        axes.set_yscale("log")
        axes.set_title(f"{name}, by {'stamp' if periods.is_stamped else 'arrival'}")
        axes.set(xlabel="period (ms)", ylabel="messages")
        axes.legend(loc="upper right")
    return Plot("periods", "Periods", "how long from message to message", _save(figure))
