"""Training a target, a drafter and a feature drafter on a folder of text."""
