"""What simulated arms cost, how steady they are, and whether they miss a command."""
