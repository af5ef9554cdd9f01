"""The nodes kinematics_server and trajectory_server."""
