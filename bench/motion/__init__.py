"""Planning beside bare inverse kinematics of the same samples."""
