"""The native tools."""
