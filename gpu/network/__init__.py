"""A transformers model as the engine reads it: passes over its cache, kept states, sessions."""
