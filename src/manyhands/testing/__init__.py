"""Doubles for tests, shipped for the tests of others, too."""
