"""Tokens a second and block efficiency of real models, beside plain decoding and transformers' own."""
