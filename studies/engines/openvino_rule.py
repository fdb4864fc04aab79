"""What OpenVINO GenAI 2026.4.1 does with drafted tokens when it samples, as read in `validate_candidate` and
`sample_from_sequence_group` (src/cpp/src/sampling/sampler.cpp, commit da1db864d), and checked against its
texts (docs/engines.md).

    draftproof audit studies/engines/openvino_rule.py:verify --vocab 2 --depth 1
"""

import numpy as np


def verify(
    target_probs: np.ndarray, draft_probs: np.ndarray, draft_tokens: np.ndarray, rng: np.random.Generator
) -> list[int]:
    """One call: the emitted tokens. Target and draft have coins of their own here; in the engine both begin
    from the request's `rng_seed`.
    """
    emitted: list[int] = []
    for i, row in enumerate(target_probs):
        token = int(rng.choice(len(row), p=row))
        if i == len(draft_tokens):
            return [*emitted, token]
        drafted = int(draft_tokens[i])
        # q of the drafted token, over p of another one: the token just drawn
        if rng.integers(101) / 100 <= draft_probs[i, drafted] / row[token]:
            emitted.append(drafted)
        else:  # noticed one row late: the row after the rejected token
            return [*emitted, int(rng.choice(len(row), p=target_probs[i + 1]))]
    raise AssertionError
