"""The checks of the claims, a file a topic."""
