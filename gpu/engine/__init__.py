"""Decoding with real models, by loop.py. Come here for what a run decodes (decoding, prompts) or a command
compares (setup), what it verifies (selection, verdict) and what it yields (output).
"""
