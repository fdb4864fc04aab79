"""Replaces random functions (generators, torch's and Triton's functions) by choices that can be
enumerated.
"""
