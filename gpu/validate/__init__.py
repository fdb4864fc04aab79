"""Is what comes out of real models the target's law, and is acceptance what its rows predict?"""
