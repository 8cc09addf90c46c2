"""Search over the notes and texts of a project: by words, by meaning, by what stands around."""
