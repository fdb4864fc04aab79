"""Running the mathematics: enumeration, sampling, decoding, instances, verdicts, commands."""
