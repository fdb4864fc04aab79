"""Shapes of drafts: chains, paths, fixed trees, trees that follow the drafter's probabilities."""

from gpu.structures.spelling import structure

__all__ = ["structure"]
