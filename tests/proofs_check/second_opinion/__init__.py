"""A second opinion on the verdicts of sign cells, by an independent route."""
