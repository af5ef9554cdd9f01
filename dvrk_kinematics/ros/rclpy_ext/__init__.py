"""Workarounds for rclpy or code below it; each file says what it answers, and for how long."""
