"""Mathematics that several drafts and rules share: strata, races, divergences, and a cache for exact rows."""
