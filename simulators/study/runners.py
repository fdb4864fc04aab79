"""Computes chunks in processes of this machine; a chunk whose process is lost is computed again."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing

from draftproof.simulators.study.plan import Chunk, computed
from draftproof.simulators.support.pool import shared
from draftproof.theory.errors import BadInput

Shards = Generator[tuple[str, bytes], None, None]
Runner = Callable[[Sequence[Chunk]], Shards]

PATIENCE = 10  # seconds to wait for a scheduler's answer, or for its first worker


def processes(workers: int) -> Runner:
    """Processes on this machine."""

    def run(chunks: Sequence[Chunk]) -> Shards:
        left = {chunk.name: chunk for chunk in chunks}
        while left:
            before = len(left)
            try:
                with closing(shared(computed, list(left.values()), workers)) as found:
                    for chunk, shard in found:
                        del left[chunk.name]
                        yield shard
            except BrokenProcessPool:
                if len(left) == before:
                    message = "worker processes die (out of memory?); use fewer --workers"
                    raise BadInput(message) from None

    return run
