"""How exactly and how steadily a bridge moves an arm, what it costs, and whether it grows."""
