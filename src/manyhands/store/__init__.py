"""Storage: engine, tables, migrations."""
