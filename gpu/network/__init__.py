"""A transformers model as the engine reads it: passes over its cache or over whole texts, sessions."""
