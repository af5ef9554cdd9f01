"""Offline tools."""
