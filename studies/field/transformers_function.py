"""huggingface/transformers: `_speculative_sampling` of any release from 4.37 on, cut out of
`generation/utils.py`. The installed one is audited as `transformers.generation.utils:_speculative_sampling`.

Checked: the law of one call on one draft: token verification of a chain, with softmax done inside. Not
checked: the loop around it; `transformers_generate.py` has that.
"""

from engines import theirs

verify = theirs("huggingface/transformers", "src/transformers/generation/utils.py")._speculative_sampling
