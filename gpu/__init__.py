"""The same algorithms on tensors and on real models, with torch."""
