"""The one inbox for everything that waits for a person."""
