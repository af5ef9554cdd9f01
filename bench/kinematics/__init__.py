"""Kinematics next to the libraries that a lab can choose today."""
