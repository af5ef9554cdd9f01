"""What stands behind ./dvrk: makes the environment, then runs a command in it. Standard library only."""
