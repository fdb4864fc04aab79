"""A second opinion on a server that shares no code with draftproof: teacher-forced counts, z by position.

Texts are drawn at temperature 1 from a prompt of token ids. At every position the model's own row after the
text so far, by transformers on the same weights, says how likely the likeliest token was; z compares how
often it came with that, over all texts: for a server that samples from the model it is standard normal.
"""

PROMPTS = ([275, 69, 567, 425, 627], [500, 12, 90, 333])
LENGTH = 5


def z_values(folder: str, texts: dict[tuple[int, ...], list[list[int]]]) -> list[float]:
    """The z of each position, over the texts of all prompts; a text may end early."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    excess, variance = torch.zeros(LENGTH), torch.zeros(LENGTH)
    for prompt, few in texts.items():
        ids = torch.tensor([[*prompt, *each, *[0] * (LENGTH - len(each))] for each in few])
        there = torch.arange(LENGTH) < torch.tensor([[len(each)] for each in few])
        with torch.no_grad():
            rows = model(ids).logits[:, len(prompt) - 1 : -1].softmax(-1)
        likely, token = rows.max(-1)
        excess += (((ids[:, len(prompt) :] == token).float() - likely) * there).sum(0)
        variance += (likely * (1 - likely) * there).sum(0)
    drawn = variance > 0  # no text may be as long as LENGTH
    return (excess[drawn] / variance[drawn].sqrt()).tolist()
