"""Decoding with real models: loop.py, and plain.py, the same without features. Come here for what a run
decodes (decoding, prompts) or a command compares (setup), what it verifies (selection, verdict) and what it
yields (output).
"""
