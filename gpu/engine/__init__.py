"""Decoding with real models: loop.py. Come here for what a run decodes (decoding, prompts) or a command
compares (setup), how it verifies (verdict) and what it yields (output).
"""
