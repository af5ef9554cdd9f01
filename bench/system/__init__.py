"""Whole systems, from one arm to the cart: ticks beside a bare loop, processor time, memory."""
