"""Writes the tables of the node cards from what the code declares."""
