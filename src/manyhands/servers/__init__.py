"""MCP servers that the hub connects to."""
