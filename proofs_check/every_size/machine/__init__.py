"""The machine that runs a verifier on symbols: values, state, objects, loops and calls."""
