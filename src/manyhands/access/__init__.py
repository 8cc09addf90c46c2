"""Who may speak to the hub, and what of it exists for whom."""
