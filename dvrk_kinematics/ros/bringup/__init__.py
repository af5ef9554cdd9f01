"""The processes of a system as data, started by ./dvrk up or by launch files."""
