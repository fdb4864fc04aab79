"""What can be audited, each behind the interface of `base.Target`.

Come here if a function is called in a way that is not known yet. `functions` verify one chain, `trees` any
draft; `signatures` finds how a function is called from its parameters, and `readings` what its result
means; `loops` generate whole texts, and `models` stands in for their two models; `selection` rules decide
which drafts of a batch are verified; `programs` in any language answer questions on standard input.
"""
