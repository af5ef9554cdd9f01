"""The edge to ROS 2: the only room that imports rclpy and message packages."""
