"""The same algorithms on real models, with torch."""
