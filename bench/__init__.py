"""Benchmarks: what the issue tracker promises, measured as ratios in one run."""
