"""One self-contained page of results."""
