"""What stands behind ./dvrk: makes the environment and runs a command in it. Standard library only."""
