"""The node recorder and the command ./dvrk record."""
