"""Ordinary spellings of one lossless rule, and of one that keeps the drafted token too often."""

import numpy as np
import torch

GENEROUS = 1.0  # above 1 the rule is lossy


def core(p, q, x, uniform=torch.rand, draw=lambda row: int(torch.multinomial(row, 1))):
    """(number of accepted tokens, next token); the token is None where there is no row for it."""
    for i, t in enumerate(x):
        if not uniform(()) * q[i][t] < p[i][t] * GENEROUS:
            rest = (p[i] - q[i]).clip(0)
            return i, draw(rest if rest.any() else p[i])
    return len(x), draw(p[len(x)]) if len(p) > len(x) else None


def whole(p, q, x):
    n, token = core(p, q, x)
    return torch.tensor([*x[:n].tolist(), token])


def padded(p, q, x):
    word = whole(p, q, x)
    return torch.cat([word, torch.full((len(x) + 1 - len(word),), -1)])


def plain(p, q, x):
    return whole(p, q, x)


def count_and_token(target_probs, draft_probs, draft_token_ids):
    return core(target_probs, draft_probs, draft_token_ids)


def count_and_token_or_none(draft_tokens, draft_probabilities, target_probabilities):
    """Without an extra token where all are accepted."""
    return core(target_probabilities[:-1], draft_probabilities, draft_tokens)


def batch_of_counts_without_an_extra_token(target_logits, draft_logits, draft_tokens):
    p, q = target_logits.softmax(-1)[:, :-1], draft_logits.softmax(-1)
    found = [core(*each) for each in zip(p, q, draft_tokens, strict=True)]
    counts, tokens = zip(*found, strict=True)
    return torch.tensor(counts), torch.tensor([-1 if token is None else token for token in tokens])


def batch_with_temperatures(target_logits, draft_logits, temperatures, draft_tokens):
    p, q = ((rows / temperatures[:, None, None]).softmax(-1) for rows in (target_logits, draft_logits))
    return torch.stack([padded(*each) for each in zip(p, q, draft_tokens, strict=True)])


def list_of_count_and_token(draft_tokens, draft_probs, target_probs):
    return [*core(target_probs, draft_probs, draft_tokens)]


def tensor_of_count_and_token(target_probs, draft_probs, draft_tokens):
    return torch.tensor(core(target_probs, draft_probs, draft_tokens))


def list_of_token_and_count(target_probs, draft_probs, draft_tokens):
    return [*core(target_probs, draft_probs, draft_tokens)[::-1]]


def filled_with_zero(draft_tokens, draft_probs, target_probs):
    word = padded(target_probs, draft_probs, draft_tokens)
    return word.clip(0), int((word >= 0).sum()) - 1


def batch_filled_with_zero(draft_tokens, draft_probs, target_probs):
    each = zip(draft_tokens, draft_probs, target_probs, strict=True)
    words, counts = zip(*(filled_with_zero(*given) for given in each), strict=True)
    return torch.stack(words), torch.tensor(counts)


def named_proposals(proposals, draft_distributions, target_distributions):
    return whole(target_distributions, draft_distributions, proposals)


def token_and_count(target_probs, draft_probs, draft_tokens, gamma):
    return core(target_probs, draft_probs, draft_tokens[:gamma])[::-1]


def tokens_and_count(target_probs, draft_probs, draft_token_ids):
    word = whole(target_probs, draft_probs, draft_token_ids)
    return word, len(word) - 1


def filled_with_minus_one(target_probs, draft_probs, draft_token_ids):
    return padded(target_probs, draft_probs, draft_token_ids)


def other_order(draft_token_ids, draft_probs, target_probs):
    return whole(target_probs, draft_probs, draft_token_ids)


def by_letters(x, q, p):
    return whole(p, q, x)


def from_logits(draft_tokens, draft_logits, target_logits):
    return whole(target_logits.softmax(-1), draft_logits.softmax(-1), draft_tokens)


def from_log_probs(spec_tokens, draft_log_probs, target_logprobs):
    return whole(target_logprobs.exp(), draft_log_probs.exp(), spec_tokens)


def mixed(target_logits, draft_probs, draft_tokens):
    return whole(target_logits.softmax(-1), draft_probs, draft_tokens)


def with_temperature(target_logits, draft_logits, draft_tokens, temperature):
    return whole((target_logits / temperature).softmax(-1), draft_logits.softmax(-1), draft_tokens)


def batch(target_probs, draft_probs, draft_tokens):
    return torch.stack([padded(*each) for each in zip(target_probs, draft_probs, draft_tokens, strict=True)])


def batch_that_draws_for_every_position(target_probs, draft_probs, draft_tokens):
    """As vLLM V0 does: races for all positions of all requests at once, of which one in a request is used."""
    size, gamma, vocab = draft_probs.shape
    each = torch.arange(size)[:, None], torch.arange(gamma)[None], draft_tokens
    ratio = (target_probs[:, :-1][each] * GENEROUS / draft_probs[each]).clamp(max=1)
    kept = torch.rand(size, gamma) < ratio
    rest = (target_probs[:, :-1] - draft_probs).clamp(min=0)
    rest = torch.where(rest.sum(-1, keepdim=True) > 0, rest, target_probs[:, :-1]).reshape(-1, vocab)
    drawn = rest.div_(torch.empty_like(rest).exponential_(1.0)).argmax(dim=1).reshape(size, gamma)
    ends = (~kept).max(1).indices
    ends[kept.all(1)] = gamma
    places = torch.arange(gamma)
    out = -torch.ones(size, gamma + 1, dtype=torch.int64)
    out[:, :gamma] = torch.where(places < ends[:, None], draft_tokens, -1)
    last = torch.multinomial(target_probs[:, -1], 1)[:, 0]
    out[:, gamma] = torch.where(ends == gamma, last, -1)
    after = places == ends[:, None]
    out[:, :gamma].mul_(~after).add_(drawn.mul(after))
    return out


def batch_of_lists(draft_tokens, draft_probs, target_probs):
    given = zip(target_probs, draft_probs, draft_tokens, strict=True)
    return [whole(*each).tolist() for each in given]


def batch_of_counts(target_probs, draft_probs, draft_tokens):
    found = [core(*each) for each in zip(target_probs, draft_probs, draft_tokens, strict=True)]
    return torch.tensor([n for n, _ in found]), torch.tensor([token for _, token in found])


def batch_of_one(candidate_input_ids, candidate_logits, candidate_length, new_logits):
    p, q = new_logits.softmax(-1)[0], candidate_logits.softmax(-1)[0]
    word = whole(p, q, candidate_input_ids[0])
    return word[None], len(word) - 1


def flat(
    draft_token_ids,
    num_draft_tokens,
    max_spec_len,
    cu_num_draft_tokens,
    draft_probs,
    target_logits,
    bonus_token_ids,
):
    out = torch.full((len(num_draft_tokens), max_spec_len + 1), -1)
    start = 0
    for row, end in enumerate(cu_num_draft_tokens.tolist()):
        given = target_logits[start:end].softmax(-1), draft_probs[start:end], draft_token_ids[start:end]
        n, token = core(*given)
        out[row, :n] = given[2][:n]
        out[row, n] = bonus_token_ids[row, 0] if token is None else token
        start = end
    return out


def generator_given(target_probs, draft_probs, draft_token_ids, generator):
    def draw(row):
        return int(torch.multinomial(torch.as_tensor(row), 1, generator=generator))

    return core(
        target_probs, draft_probs, draft_token_ids, lambda _: torch.rand((), generator=generator), draw
    )


def generator_of_numpy(p, q, tokens, rng):
    return core(p, q, tokens, rng.random, lambda row: int(rng.choice(len(row), p=row / row.sum())))


def generator_optional(target_probs, draft_probs, draft_token_ids, generator=None):
    return whole(target_probs, draft_probs, draft_token_ids)


def by_name_only(*, target_probs, draft_probs, draft_token_ids):
    return whole(target_probs, draft_probs, draft_token_ids)


def mask_and_token(target_probs, draft_probs, draft_tokens):
    n, token = core(target_probs, draft_probs, draft_tokens)
    return torch.arange(len(draft_tokens)) < n, token


def accepted_and_token(target_probs, draft_probs, draft_tokens):
    n, token = core(target_probs, draft_probs, draft_tokens)
    return draft_tokens[:n], torch.tensor([token])


def nested(target_probs, draft_probs, draft_tokens):
    return whole(target_probs, draft_probs, draft_tokens)[None]


class Module(torch.nn.Module):
    def forward(self, target_probs, draft_probs, draft_token_ids):
        return whole(target_probs, draft_probs, draft_token_ids)


module = Module()
compiled = torch.compile(plain, backend="eager")

AUDITED = (
    plain,
    count_and_token,
    count_and_token_or_none,
    batch_of_counts_without_an_extra_token,
    batch_with_temperatures,
    list_of_count_and_token,
    tensor_of_count_and_token,
    list_of_token_and_count,
    filled_with_zero,
    batch_filled_with_zero,
    named_proposals,
    token_and_count,
    tokens_and_count,
    filled_with_minus_one,
    other_order,
    by_letters,
    from_logits,
    from_log_probs,
    mixed,
    with_temperature,
    batch,
    batch_that_draws_for_every_position,
    batch_of_lists,
    batch_of_counts,
    batch_of_one,
    flat,
    generator_given,
    generator_of_numpy,
    generator_optional,
    by_name_only,
    mask_and_token,
    accepted_and_token,
    nested,
    Module,
    module,
    compiled,
)


def unknown(first, second, third, fourth, fifth):
    return [0]


def mapping(target_probs, draft_probs, draft_tokens):
    return {"tokens": whole(target_probs, draft_probs, draft_tokens)}


def configured(target_probs, draft_probs, draft_tokens, config):
    return config.anything


def batch_of_three_numbers(target_probs, draft_probs, draft_tokens):
    """The numbers of accepted tokens, and the next ones twice; as many results as requests."""
    given = zip(target_probs, draft_probs, draft_tokens, strict=True)
    counts, tokens = map(torch.tensor, zip(*(core(*each) for each in given), strict=True))
    return counts, tokens, tokens


def filled_with_zero_and_length(draft_tokens, draft_probs, target_probs):
    word, accepted = filled_with_zero(draft_tokens, draft_probs, target_probs)
    return word, accepted + 1


NOT_AUDITED = (unknown, mapping, configured, batch_of_three_numbers, filled_with_zero_and_length)


def mixes_rows(target_probs, draft_probs, draft_tokens):
    """Right for the first request of a batch, wrong for the second."""
    first = [target_probs[0]] * len(target_probs)
    return torch.stack([padded(*each) for each in zip(first, draft_probs, draft_tokens, strict=True)])


def accepts_as_few_as_any(target_probs, draft_probs, draft_tokens):
    """Cuts every request of a batch where the first rejection of any of them is."""
    given = list(zip(target_probs, draft_probs, draft_tokens, strict=True))
    found = [core(*each) for each in given]
    n = min(accepted for accepted, _ in found)
    out = torch.full((len(given), draft_tokens.shape[1] + 1), -1)
    for row, ((p, q, x), (accepted, token)) in enumerate(zip(given, found, strict=True)):
        rest = (p[n] - q[n]).clip(0) if n < len(x) else p[n]
        out[row, :n] = x[:n]
        again = int(torch.multinomial(rest if rest.any() else p[n], 1))
        out[row, n] = token if accepted == n else again
    return out


LOSSY = (mixes_rows, accepts_as_few_as_any)
NUMPY = np  # the module has both libraries
