"""Runs the algorithms of `theory`: enumeration, sampling, decoding, instances, verdicts, commands."""
