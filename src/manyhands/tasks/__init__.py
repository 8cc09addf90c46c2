"""Schedules: work that is done later, again and again, or when somebody asks for it."""
