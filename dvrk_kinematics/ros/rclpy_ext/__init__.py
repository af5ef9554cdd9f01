"""What works around rclpy or reaches below it."""
