"""Tools: what they are, native ones, permission, results, the log of calls."""
