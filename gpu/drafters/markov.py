"""What DSpark and XPress add to a block drafter's rows: a bias by the tokens before (dspark2026throughput).
Names and formulas are those of deepseek-ai/DeepSpec and of speculators.
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

KINDS = "vanilla", "gated", "rnn"


class MarkovHead(nn.Module):
    """The bias W2 b of a row, after the token x and for the state h of its place. b is

        vanilla   W1[x]
        gated     sigmoid(G [h; W1[x]]) W1[x]
        rnn       tanh(o), with [g; c; o] = J [m; W1[x]; h]; the row after has the memory
                  m' = sigmoid(g) m + (1 - sigmoid(g)) tanh(c), the first m = 0

    `rank` is the size of b and m, `drafted` that of the rows.
    """

    def __init__(self, kind: str, vocab: int, hidden: int, rank: int, drafted: int) -> None:
        super().__init__()
        self.kind = kind
        self.markov_w1, self.markov_w2 = nn.Embedding(vocab, rank), nn.Linear(rank, drafted, bias=False)
        nn.init.zeros_(self.markov_w2.weight)
        if kind == "gated":
            self.gate_proj = nn.Linear(hidden + rank, rank)
        if kind == "rnn":
            self.joint_proj = nn.Linear(2 * rank + hidden, 3 * rank)

    def forward(self, states: Tensor, before: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(bias [.., drafted], memory [.., rank] of the rows after) for states [.., H], tokens [..] and the
        memory [.., rank].
        """
        made = self.markov_w1(before)
        if self.kind == "gated":
            made = self.gate_proj(torch.cat((states, made), -1)).sigmoid() * made
        if self.kind == "rnn":
            gate, new, made = self.joint_proj(torch.cat((memory, made, states), -1)).chunk(3, -1)
            memory, made = torch.lerp(new.tanh(), memory, gate.sigmoid()), made.tanh()
        return self.markov_w2(made), memory


class RefinerHead(nn.Module):
    """XPress's bias W c of a row, by all tokens before it in its block: for place k, with `seen` s[k],

        a[k] = I [s[k]; E[x[k]]],  b = a[k] + sum_(j <= k) L[:, k, j] a[j],  c = b + D (silu(G b) U b)

    where x[k] is the token before place k. The memory has, for each place from k on, the sum over the places
    before k: it is shorter by one place after each. Tokens are drawn in turn from these rows, where XPress's
    own passes over whole blocks end.
    """

    def __init__(self, block: int, vocab: int, hidden: int, rank: int, inner: int, drafted: int) -> None:
        super().__init__()
        made = partial(nn.Linear, bias=False)
        self.token_embed = nn.Embedding(vocab, rank)
        self.mix_l = nn.Parameter(torch.zeros(rank, block, block))
        self.down_h, self.down_g, self.in_proj = made(hidden, rank), made(hidden, rank), made(3 * rank, rank)
        self.mlp_gate, self.mlp_up, self.mlp_down = made(rank, inner), made(rank, inner), made(inner, rank)
        self.readout = made(rank, drafted)

    def seen(self, states: Tensor) -> Tensor:
        """What is seen of each place of a block, [B, block, 2 rank], from the states [B, block, H]."""
        mean = states.mean(1, keepdim=True).expand_as(states)
        return torch.cat((self.down_h(states), self.down_g(mean)), -1)

    def forward(self, seen: Tensor, before: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(bias [.., drafted], memory of the places after) for seen [.., 2 rank], tokens [..] and the memory
        [.., n rank] of the last n places of the block, of which this is the first.
        """
        sums = memory.unflatten(-1, (-1, len(self.mix_l)))
        place = self.mix_l.shape[1] - sums.shape[-2]
        made = self.in_proj(torch.cat((seen, self.token_embed(before)), -1))
        sums = sums + self.mix_l[:, place:, place].mT * made[..., None, :]
        made = made + sums[..., 0, :]
        made = made + self.mlp_down(functional.silu(self.mlp_gate(made)) * self.mlp_up(made))
        return self.readout(made), sums[..., 1:, :].flatten(-2)
