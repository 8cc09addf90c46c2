"""Workflows: several steps that survive anything, from a definition that is a file."""
