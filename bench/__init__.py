"""Side-by-side figures: each module is one benchmark of ./dvrk bench."""
