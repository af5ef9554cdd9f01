"""Demonstrations: ./dvrk demo and the executable trace_block_o."""
