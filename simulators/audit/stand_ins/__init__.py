"""Replacements of random functions during an audit, which draw coins from a source.

Come here if a library's random function is not followed. `generators` are stand-ins for the generators of
numpy and Python, and `replaced` puts them in place in all modules and follows seeds; `torch_mode` answers
torch's random functions, `torch_functions` its other functions on tensors of coins, `triton_mode` Triton's
interpreter.
"""
