"""Language models: providers, the catalogue, the built-in demo model."""
