"""The page of a report: one self-contained HTML file."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from html import escape

from dvrk_kinematics.cli.report.figures import (
    ArmFigures,
    JointFigures,
    MaxRms,
    MotionFigures,
    ReportFigures,
)
from dvrk_kinematics.cli.report.motion import Periods
from dvrk_kinematics.cli.report.plots import Plot
from dvrk_kinematics.motion.planning.tip_follower import (
    EXACT,
    FINEST,
    describe_contour,
    describe_lag,
    describe_off,
)

__all__ = ["make_page", "make_title"]

_MOST_IN_TITLE = 3
"""Largest number of arms whose actions a title describes."""

_STYLE = """
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2630; max-width: 1080px;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin-bottom: .3rem; }
h2 { margin-top: 2.4rem; border-bottom: 2px solid #1f6fb4; }
h3 { margin: 1.8rem 0 .3rem; }
p.note, figcaption { color: #5b6672; font-size: .9rem; margin: .2rem 0 .8rem; }
table { border-collapse: collapse; margin: .6rem 0 1.2rem; }
td, th { padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top;
  overflow-wrap: normal; }
th { border-bottom: 1px solid #9aa3ad; font-weight: 600; }
td { font-variant-numeric: tabular-nums; }
ul.remarks { color: #b3261e; }
tr.bad td { color: #b3261e; font-weight: 600; }
figure { margin: 1.2rem 0; }
figure img { width: 100%; height: auto; }
code { font-size: .92em; }
@media (min-width: 641px) { td:first-child { white-space: nowrap; } }
@media (max-width: 640px) {
  body { margin: 1rem auto; }
  h1 { font-size: 1.3rem; }
  table, tbody, tr, td { display: block; width: 100%; }
  th { display: none; }
  tr { border-bottom: 1px solid #d5dade; padding: .3rem 0; }
  td { display: flex; justify-content: space-between; gap: 1rem; padding: .1rem 0;
    text-align: right; overflow-wrap: anywhere; }
  td::before { content: attr(data-head); color: #5b6672; text-align: left; flex: none;
    max-width: 55%; overflow-wrap: normal; }
  td:first-child { font-weight: 600; text-align: left; }
  td:first-child::before { content: none; }
  figure { overflow-x: auto; }
  figure img { min-width: 620px; }
}
@media print { figure { break-inside: avoid; } }
"""

_HARDWARE = {"simulated": "a simulated arm", "dvrk": "a real arm"}


def make_page(
    figures: ReportFigures, plots: Sequence[Sequence[Plot]], recorded: str, title: str = ""
) -> str:
    """The whole page.

    Args:
        figures: The figures.
        plots: The plots of each arm, in the order of the figures' arms.
        recorded: When the bag was recorded, in words.
        title: What was done; "" to derive it from the bag.
    """
    heading = escape(title or make_title(figures))
    arms = "".join(_arm(arm, drawn) for arm, drawn in zip(figures.arms, plots, strict=True))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{heading} ({escape(_kinds(figures))}, {escape(recorded)})</title>"
        f"<style>{_STYLE}</style></head><body>\n<h1>{heading}</h1>\n"
        f'<p class="note">{escape(_kinds(figures))}, {escape(recorded)}, {figures.duration:.1f} s '
        f"in <code>{escape(figures.bag)}</code></p>\n{_remarks(figures)}{arms}{_topics(figures)}"
        "</body></html>\n"
    )


def make_title(figures: ReportFigures) -> str:
    """What was done, as far as a bag shows."""
    told = [_told(arm) for arm in figures.arms[:_MOST_IN_TITLE]]
    more = len(figures.arms) - len(told)
    return ", ".join([*told, f"and {more} more"] if more else told)


def _told(arm: ArmFigures) -> str:
    """What an arm did."""
    way = f"{1e3 * arm.travel:.0f} mm in {arm.moved:.1f} s"
    if not arm.motions:
        return f"{arm.name} moved {way}"
    paths = "a planned path" if len(arm.motions) == 1 else f"{len(arm.motions)} planned paths"
    return f"{arm.name} followed {paths}, {way}"


def _kinds(figures: ReportFigures) -> str:
    """What kind of arms these are."""
    kinds = sorted({arm.hardware for arm in figures.arms})
    if len(kinds) == 1:
        return _HARDWARE.get(kinds[0], "not recorded whether simulated or real")
    return "; ".join(
        f"{arm.name}: {_HARDWARE.get(arm.hardware, 'not recorded')}" for arm in figures.arms
    )


def _remarks(figures: ReportFigures) -> str:
    lines = "".join(f"<li>{escape(remark)}</li>\n" for remark in figures.remarks)
    return f'<ul class="remarks">\n{lines}</ul>\n' if lines else ""


def _arm(arm: ArmFigures, plots: Sequence[Plot]) -> str:
    parts = [
        f"<h2>{escape(arm.name)}</h2>\n",
        _table("Figures", ("what", ""), _figure_rows(arm)),
        _motions(arm),
        _periods(arm),
        _joints(arm),
    ]
    for plot in plots:
        data = base64.b64encode(plot.png).decode()
        parts.append(
            f"<figure><h3>{escape(plot.title)}</h3><figcaption>{escape(plot.caption)}</figcaption>"
            f'<img alt="{escape(plot.title)} of {escape(arm.name)}" '
            f'src="data:image/png;base64,{data}"></figure>\n'
        )
    return "".join(parts)


def _figure_rows(arm: ArmFigures) -> list[tuple[str, str]]:
    rows = [
        ("duration of the motion", f"{arm.moved:.2f} s"),
        ("travel of the tip", f"{1e3 * arm.travel:.1f} mm"),
    ]
    if not arm.motions:
        rows.append(("contour error and lag", "no planned path in the bag"))
    if arm.tracking_tip is not None:
        words = describe_off(arm.tracking_tip.max, arm.tracking_tip.rms, "µm")
        rows.append(("tracking error of the tip, max / RMS", words))
    rows.append(("speed below the planned one", _slow_downs(arm)))
    count = arm.counted_slow_downs
    # The bridge reports once a second, too rarely to tell one motion's count from another's.
    told = "not recorded" if count is None else str(count)
    rows.append(("slow-downs by lateness, in the whole bag", told))
    rows.append(("tip from", arm.tip_source))
    return rows


def _motions(arm: ArmFigures) -> str:
    """The tip compared with each planned path."""
    rows = [(f"path {number}", *_motion_cells(m)) for number, m in enumerate(arm.motions, 1)]
    heads = ("path", "began", "planned", "took", "contour error, max / RMS", "lag, mean / max")
    table = _table(
        "Planned paths", (*heads, "states compared with the plan", "plan off the exact path"), rows
    )
    if not rows:
        return ""
    words = (
        "Contour error: measured tip to the nearest point of its planned path, by the forward "
        "kinematics of the ideal arm. Lag: how much later than planned it was there."
    )
    is_exact = all(motion.following.position_max < FINEST for motion in arm.motions)
    if is_exact and arm.hardware == "simulated":
        words += f" {EXACT[0].upper()}{EXACT[1:]}."
    return f'{table}<p class="note">{escape(words)}</p>\n'


def _motion_cells(motion: MotionFigures) -> tuple[str, ...]:
    off = motion.deviation
    return (
        f"{motion.start:.2f} s",
        f"{motion.planned:.2f} s",
        "not known" if math.isnan(motion.took) else f"{motion.took:.2f} s",
        describe_contour(motion.following, "µ"),
        describe_lag(motion.following),
        str(motion.following.samples),
        "not recorded" if off is None else f"{1e6 * off[0]:.3g} µm, {1e6 * off[1]:.3g} µrad",
    )


def _slow_downs(arm: ArmFigures) -> str:
    told = arm.slow_downs
    if told is None:
        return "not recorded"
    if not told.count:
        return "never"
    times = "once" if told.count == 1 else f"{told.count} times"
    return f"{times}, {told.below_s:.2f} s in all, lowest factor {told.lowest:.2f}"


def _periods(arm: ArmFigures) -> str:
    streams = (("servo_jp", arm.command), ("measured_js", arm.state))
    rows = [(name, *_period_cells(p)) for name, p in streams if p is not None]
    heads = ("stream", "messages", "rate (Hz)", "p50 (ms)", "p99 (ms)", "max (ms)", "missed")
    return _table("Rate and jitter", (*heads, "pauses", "times"), rows)


def _period_cells(p: Periods) -> tuple[str, ...]:
    return (
        str(p.messages),
        f"{p.rate:.2f}",
        _ms(p.p50),
        _ms(p.p99),
        _ms(p.longest),
        str(p.missed),
        str(p.pauses),
        "stamps" if p.is_stamped else "arrival",
    )


def _joints(arm: ArmFigures) -> str:
    rows = [
        (
            joint.name,
            f"{joint.lowest:.4f} to {joint.highest:.4f}",
            _limits(joint),
            f"{joint.peak_velocity:.4f}",
            "" if joint.planned_velocity is None else f"{joint.planned_velocity:.4f}",
            f"{joint.told_velocity:.4f}{' (spike)' if joint.has_spikes else ''}",
            f"{joint.peak_acceleration:.3f}",
            "" if joint.tracking is None else _tracking(joint.tracking),
        )
        for joint in arm.joints
    ]
    heads = ("joint", "range", "limits", "peak velocity", "planned", "reported")
    words = (
        "Velocities and accelerations are of cubics fitted to the positions over 0.1 s. A spike "
        "is a reported velocity that the positions do not show: it is a difference of two "
        "samples, between which an arm now and then takes two setpoints or none."
    )
    table = _table(
        "Joints (rad, m, s)", (*heads, "peak acceleration", "tracking error, max / RMS"), rows
    )
    return f'{table}<p class="note">{escape(words)}</p>\n'


def _limits(joint: JointFigures) -> str:
    if not math.isfinite(joint.upper - joint.lower):
        return "not known"
    return f"{joint.lower:.4f} to {joint.upper:.4f}"


def _tracking(error: MaxRms) -> str:
    if error.max < FINEST:
        return f"under {FINEST:g}"
    return f"{error.max:.2g} / {error.rms:.2g}"


def _topics(figures: ReportFigures) -> str:
    rows = [
        (t.name, t.type_name, str(t.messages), "not counted" if t.lost is None else str(t.lost))
        for t in figures.topics
    ]
    bad = {row for row, topic in enumerate(figures.topics) if topic.lost}
    return "<h2>Bag</h2>\n" + _table("Topics", ("topic", "type", "messages", "lost"), rows, bad)


def _table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    bad: Iterable[int] = (),
) -> str:
    marked = set(bad)
    lines = []
    for number, row in enumerate(rows):
        cells = "".join(
            f'<td data-head="{escape(head)}">{escape(cell)}</td>'
            for head, cell in zip(heads, row, strict=True)
        )
        lines.append(f"<tr{' class=bad' if number in marked else ''}>{cells}</tr>")
    if not lines:
        return ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "\n".join(lines)
    return f"<h3>{escape(title)}</h3>\n<table><tr>{head}</tr>\n{body}\n</table>\n"


def _ms(seconds: float) -> str:
    return "not known" if math.isnan(seconds) else f"{1e3 * seconds:.3f}"
