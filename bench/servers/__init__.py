"""How long the servers take to answer, and how well a traced figure is followed."""
