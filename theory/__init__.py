"""The mathematics, free of input, output and randomness: laws, drafts, verifiers, closed forms."""
