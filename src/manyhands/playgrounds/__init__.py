"""Small pages that agents and people write, and that are served from an origin of their own."""
