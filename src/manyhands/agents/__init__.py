"""Agents: who is there, and the messages between them."""
