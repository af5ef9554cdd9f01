"""Arms and instruments as data: frozen records read from config/models/*.yaml."""
