"""Goals made motions and played, tick by tick."""
