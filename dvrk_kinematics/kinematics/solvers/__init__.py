"""Inverse kinematics: a file for each closed form, numeric search, selection."""
