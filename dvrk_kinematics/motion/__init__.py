"""Motion of arms, without ROS: limits, splines, scalings, paths, moves and plans."""
