"""Replaces random functions (generators, torch's and Triton's) by choices that can be enumerated."""
