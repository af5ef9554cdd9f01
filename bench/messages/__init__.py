"""What the ROS edge costs in Python."""
