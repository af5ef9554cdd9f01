"""Programs: series of moves that are stored, edited and replayed."""
