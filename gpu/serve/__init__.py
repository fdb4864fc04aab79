"""A small OpenAI-compatible server that decodes speculatively, for tests and demonstrations."""
