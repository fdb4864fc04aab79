"""Rows and draws as tensors: from logits to rows, draft trees, strata, processors and their histories."""
