"""The guard, the one exit to an arm, and what it checks."""
