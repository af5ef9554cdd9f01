"""The cost of the ROS edge in Python."""
