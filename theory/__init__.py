"""The mathematics, without input, output or randomness: laws, drafts, verifiers, closed forms."""
