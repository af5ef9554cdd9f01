"""The page of a report: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from html import escape

from dvrk_kinematics.cli.report_figures import ArmFigures, MaxRms, ReportFigures
from dvrk_kinematics.cli.report_motion import Periods
from dvrk_kinematics.cli.report_plots import Plot

__all__ = ["make_page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2630; max-width: 1080px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { margin-top: 2.4rem; border-bottom: 2px solid #1f6fb4; }
h3 { margin: 1.8rem 0 .3rem; }
p.note, figcaption { color: #5b6672; font-size: .9rem; margin: .2rem 0 .8rem; }
table { border-collapse: collapse; margin: .6rem 0 1.2rem; }
td, th { padding: .25rem .9rem .25rem 0; text-align: left; }
th { border-bottom: 1px solid #9aa3ad; font-weight: 600; }
td { font-variant-numeric: tabular-nums; }
td:first-child { white-space: nowrap; }
ul.remarks { color: #b3261e; }
tr.bad td { color: #b3261e; font-weight: 600; }
figure { margin: 1.2rem 0; }
figure img { width: 100%; height: auto; }
code { font-size: .92em; }
@media print { figure { break-inside: avoid; } }
"""


def make_page(figures: ReportFigures, plots: Sequence[Sequence[Plot]], recorded: str) -> str:
    """The whole page.

    Args:
        figures: The figures.
        plots: The plots of each arm, in the order of the figures' arms.
        recorded: When the bag was recorded, in words.
    """
    name = escape(figures.bag.rstrip("/").rpartition("/")[2])
    arms = "".join(_arm(arm, drawn) for arm, drawn in zip(figures.arms, plots, strict=True))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{name}</h1>\n"
        f'<p class="note">{escape(recorded)}, {figures.duration:.1f} s, <code>'
        f"{escape(figures.bag)}</code></p>\n{_remarks(figures)}{arms}{_topics(figures)}"
        "</body></html>\n"
    )


def _remarks(figures: ReportFigures) -> str:
    lines = "".join(f"<li>{escape(remark)}</li>\n" for remark in figures.remarks)
    return f'<ul class="remarks">\n{lines}</ul>\n' if lines else ""


def _arm(arm: ArmFigures, plots: Sequence[Plot]) -> str:
    parts = [
        f"<h2>{escape(arm.name)}</h2>\n",
        _table("Figures", ("what", "value"), _figure_rows(arm)),
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
        ("duration of the motion", f"{arm.moved:.3f} s"),
        ("travel of the tip", f"{1e3 * arm.travel:.2f} mm"),
    ]
    if arm.contour is not None:
        contour = arm.contour
        rows += [
            ("contour error, max / RMS", _micrometres(contour.position)),
            ("contour error of orientation, max / RMS", _microradians(contour.rotation)),
            ("contour error relative to", "the ideal arm's own forward kinematics"),
            ("lag, mean / max", f"{_ms(contour.lag_mean)} / {_ms(contour.lag_max)} ms"),
            ("states compared with the plan", str(contour.samples)),
        ]
    else:
        rows.append(("contour error and lag", "no planned path in the bag"))
    if arm.tracking_tip is not None:
        rows.append(("tracking error of the tip, max / RMS", _micrometres(arm.tracking_tip)))
    rows.append(("slow-downs", _slow_downs(arm)))
    rows.append(("tip from", arm.tip_source))
    return rows


def _slow_downs(arm: ArmFigures) -> str:
    told = arm.slow_downs
    if told is None:
        return "not recorded"
    if not told.count:
        return "none"
    return f"{told.count}, lowest factor {told.lowest:.2f}, {told.below_s:.2f} s below full speed"


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
            f"{joint.lowest:.5f}",
            f"{joint.highest:.5f}",
            f"{joint.peak_velocity:.4f}",
            f"{joint.peak_acceleration:.4f}",
            "" if joint.tracking is None else f"{joint.tracking.max:.3g}",
            "" if joint.tracking is None else f"{joint.tracking.rms:.3g}",
        )
        for joint in arm.joints
    ]
    heads = ("joint", "lowest", "highest", "peak velocity", "peak acceleration")
    return _table("Joints (rad, m, s)", (*heads, "tracking error max", "tracking error RMS"), rows)


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
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        lines.append(f"<tr{' class=bad' if number in marked else ''}>{cells}</tr>")
    if not lines:
        return ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "\n".join(lines)
    return f"<h3>{escape(title)}</h3>\n<table><tr>{head}</tr>\n{body}\n</table>\n"


def _ms(seconds: float) -> str:
    return "not known" if math.isnan(seconds) else f"{1e3 * seconds:.3f}"


def _micrometres(error: MaxRms) -> str:
    return f"{1e6 * error.max:.3g} / {1e6 * error.rms:.3g} µm"


def _microradians(error: MaxRms) -> str:
    return f"{1e6 * error.max:.3g} / {1e6 * error.rms:.3g} µrad"
