"""Verifiers on rational functions, with the domain cut into cells of signs where a comparison needs it."""
