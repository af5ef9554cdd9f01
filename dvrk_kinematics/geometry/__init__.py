"""Rotations, poses, screws and angles. Depends on numpy alone."""
