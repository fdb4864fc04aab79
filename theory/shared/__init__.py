"""What several rooms share: strata, races, divergences, named coins, a cache for rows, results as tables."""
