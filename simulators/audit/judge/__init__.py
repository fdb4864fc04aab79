"""Turns runs into a verdict: exact laws, coins at the edges, tests on samples, the report."""
