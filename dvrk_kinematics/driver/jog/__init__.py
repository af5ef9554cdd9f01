"""Jogs: moves while commands keep coming, and stops when they do not."""
