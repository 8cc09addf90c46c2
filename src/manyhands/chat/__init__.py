"""Channels and conversations."""
