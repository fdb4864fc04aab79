"""sequential-speculative-decoding 0.1.1: the steps of `speculative_generate`, at temperature 1."""

from clones import Output, importable

importable("sequential-speculative-decoding", absent=("seqspecdecod.load_models",))
import seqspecdecod.capped_hsd
import seqspecdecod.naive_hsd
import seqspecdecod.standard_sd


def run(step, target, draft, prompt, length, gamma):
    def model(table):
        return lambda ids: Output(logits=table(ids).logits)

    ids = prompt
    while ids.shape[1] <= length:
        ids, *_ = step(model(draft), model(target), ids, gamma, draft_temperature=1.0, target_temperature=1.0)
    return ids[0, 1:]


def standard(target, draft, prompt, length, gamma):
    return run(seqspecdecod.standard_sd.standard_speculative_step, target, draft, prompt, length, gamma)


def naive(target, draft, prompt, length, gamma):
    return run(seqspecdecod.naive_hsd.naive_hsd_step, target, draft, prompt, length, gamma)


def capped(target, draft, prompt, length, gamma):
    return run(seqspecdecod.capped_hsd.capped_hsd_step, target, draft, prompt, length, gamma)
