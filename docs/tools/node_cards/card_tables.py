"""The tables of every node card: what stands between the marks of a card comes from here.

A test tells when a card differs from them.
"""

from __future__ import annotations

from collections.abc import Callable

from docs.tools.node_cards import bridge_tables, server_tables, simulator_tables
from docs.tools.node_cards.markdown_tables import rewrite_tables

__all__ = ["CARD_TABLES", "rewrite"]

CARD_TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "arm_simulator": simulator_tables.TABLES,
    "arm_bridge": bridge_tables.TABLES,
    **server_tables.TABLES,
}
"""For each card, every table by the name in its mark."""


def rewrite(card: str) -> str:
    """A card with its tables as they are now.

    Raises:
        UnknownName: If a mark names no table.
    """
    return rewrite_tables(
        card, {name: make for tables in CARD_TABLES.values() for name, make in tables.items()}
    )
