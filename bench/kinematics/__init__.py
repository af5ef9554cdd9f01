"""Kinematics beside what a lab can pick today."""
