"""The node arm_bridge: between ROS 2 and one arm, real or simulated."""
