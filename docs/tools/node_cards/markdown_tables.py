"""Tables in Markdown for the node cards, written between the marks of a card."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.ros.common.parameters import parameter_rows

__all__ = ["make_table", "parameter_table", "rewrite_tables"]

_MARK = re.compile(r"(<!-- table: (?P<name>[\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def rewrite_tables(card: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """A card with its tables as they are now.

    Args:
        card: The text of the card.
        tables: What makes each table, by the name in its mark.

    Raises:
        UnknownName: If a mark names no table.
    """

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in tables:
            raise UnknownName("table", name, tables)
        return f"{match[1]}{tables[name]()}\n{match[3]}"

    return _MARK.sub(replace, card)


def make_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a head; an empty cell keeps its place."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell or ' ' for cell in line)} |" for line in lines)


def parameter_table(settings: type[Any]) -> str:
    """The parameters that a settings class declares."""
    return make_table(
        ("parameter", "default", "allowed", "meaning"),
        (
            (
                f"`{name}`{f' ({when})' if when else ''}",
                f"`{_show(default)}`",
                constraints,
                text,
            )
            for name, default, text, constraints, when in parameter_rows(settings)
        ),
    )


def _show(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
