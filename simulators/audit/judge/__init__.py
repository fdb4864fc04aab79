"""From runs to a verdict: exact cases, rounding, extreme coins, tests on samples, the report."""
