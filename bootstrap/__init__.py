"""Behind ./dvrk: makes the environment and runs commands in it. Standard library only."""
