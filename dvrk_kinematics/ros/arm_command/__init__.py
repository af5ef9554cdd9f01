"""The command ./dvrk arm: a client of one bridge, for people."""
