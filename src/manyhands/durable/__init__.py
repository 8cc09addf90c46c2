"""The binding to the durable engine (DBOS): work that survives whatever happens to this process."""
