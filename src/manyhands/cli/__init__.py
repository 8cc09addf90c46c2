"""The command line: one file per domain, thin."""
