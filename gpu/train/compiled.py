"""Networks compiled by torch, as long as that works."""

from typing import Any

import click
import torch

from draftproof.gpu.device import out_of_memory


class Compiler:
    """Compiles networks for a GPU. Where the first pass of one shows that nothing here can compile, it says
    so in a line on standard error, and that network and all later ones run as they are.
    """

    def __init__(self, device: torch.device) -> None:
        self.works = device.type == "cuda"

    def __call__(self, network: Any) -> Any:
        """What to call in the network's place."""
        if not self.works:
            return network
        fast, known = torch.compile(network), False

        def call(**inputs: Any) -> Any:
            nonlocal fast, known
            try:
                seen = fast(**inputs)
            except Exception as error:  # of torch, triton, or of a compiler that is not there
                if known or out_of_memory(error):
                    raise
                self.works, fast = False, network
                said = next(iter(str(error).splitlines()), type(error).__name__)
                click.echo(f"trained without torch.compile, which does not work here: {said}", err=True)
                seen = network(**inputs)
            known = True
            return seen

        return call
