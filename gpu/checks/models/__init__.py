"""Tests that decoding with real models follows the target's law and that acceptance is as predicted."""
