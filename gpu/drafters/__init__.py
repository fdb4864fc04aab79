"""Drafters and the structures that they draft."""
