"""The node card says what the code does."""

from __future__ import annotations

from pathlib import Path

from docs.tools.node_cards.card_tables import rewrite
from docs.tools.node_cards.simulator_tables import TABLES

CARD = Path(__file__).parents[3] / "docs" / "nodes" / "arm_simulator.md"


def test_tables_of_the_card_are_those_of_the_contract() -> None:
    card = CARD.read_text(encoding="utf-8")
    assert rewrite(card) == card, "run ./dvrk python -m docs.tools.node_cards on the card"


def test_every_table_is_in_the_card() -> None:
    card = CARD.read_text(encoding="utf-8")
    assert [name for name in TABLES if f"<!-- table: {name} -->" not in card] == []
