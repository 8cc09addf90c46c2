"""The MCP server for agents: one file per domain, each a table of tools over that domain's service."""
