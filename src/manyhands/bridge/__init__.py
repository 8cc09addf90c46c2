"""`manyhands mcp`: a bridge from stdio to the daemon's MCP server, on the standard library alone."""
