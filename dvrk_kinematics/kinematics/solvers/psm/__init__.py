"""Inverse kinematics of a PSM: geometry, branches, batches, position first."""
