"""Closed figures for the tip to trace, and the place where they fit best."""
