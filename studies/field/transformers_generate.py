"""transformers: `generate` with an assistant model, whole, on tables that are real models of it.

Another release than the installed one is that of a folder that is first on PYTHONPATH.
"""


def generate(target, draft, prompt, length, gamma):
    assistant = draft.pretrained(num_assistant_tokens=gamma)
    given = {"attention_mask": prompt * 0 + 1, "assistant_model": assistant, "do_sample": True}
    return target.pretrained().generate(prompt, max_new_tokens=length, **given)[0, prompt.shape[1] :]


def looked_up(target, draft, prompt, length, gamma):
    """Prompt lookup: the draft is what followed the last token earlier in the text."""
    given = {"attention_mask": prompt * 0 + 1, "prompt_lookup_num_tokens": gamma, "do_sample": True}
    return target.pretrained().generate(prompt, max_new_tokens=length, **given)[0, prompt.shape[1] :]
