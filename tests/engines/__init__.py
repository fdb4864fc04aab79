"""Servers that somebody else wrote, each in an environment of its own: `python -m tests.engines vllm`.

They are judged by `draftproof endpoint` and by a second check that shares no code with it (docs/engines.md).

Come here to add an engine: one file with `ENGINE`. Nothing of an engine is kept in the repository.
"""
