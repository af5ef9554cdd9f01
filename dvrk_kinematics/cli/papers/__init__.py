"""What the papers show, computed again: a weld line, and a way around an obstacle."""
