"""One self-contained page of results, with an explorer of small instances."""
