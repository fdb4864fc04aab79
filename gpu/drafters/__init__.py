"""Everything that proposes tokens: small models, feature heads, block diffusion, and structures of drafts."""
