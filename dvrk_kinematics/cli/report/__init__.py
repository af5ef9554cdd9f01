"""The page that ./dvrk report makes of a bag."""
