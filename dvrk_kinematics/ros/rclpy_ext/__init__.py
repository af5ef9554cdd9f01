"""What works around rclpy or reaches below it; each file says what it answers, and how long."""
