"""Bags as files: MCAP written and read record by record, whole or not."""
