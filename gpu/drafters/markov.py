"""What DSpark adds to a block drafter's rows: a bias by the tokens before (dspark2026throughput). Names and
formulas are those of deepseek-ai/DeepSpec.
"""

import torch
from torch import Tensor, nn

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
