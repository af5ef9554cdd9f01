"""Planning: segments solved, proven, knotted, and compared with what is played."""
