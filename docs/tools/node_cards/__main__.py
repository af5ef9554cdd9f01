"""``./dvrk python -m docs.tools.node_cards docs/nodes/*.md`` writes the tables of cards anew."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from docs.tools.node_cards.card_tables import rewrite


def main(cards: Sequence[str]) -> None:
    """Write the tables of cards anew."""
    for name in cards:
        path = Path(name)
        path.write_text(rewrite(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
