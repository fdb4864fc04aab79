"""The sweep: what is not finished yet is computed and kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftproof.simulators.sweep.plan import Chunk
from draftproof.simulators.sweep.runners import Runner
from draftproof.simulators.sweep.store import Store, opened


@dataclass
class Swept:
    """How far it came: chunks of the plan, those kept before, those computed now."""

    chunks: int = 0
    kept: int = 0
    computed: int = 0
    interrupted: bool = False

    @property
    def finished(self) -> int:
        return self.kept + self.computed


def sweep(
    chunks: Sequence[Chunk],
    manifest: dict[str, Any],
    folder: Path,
    runner: Runner,
    begin: Callable[[int, int], object] = lambda everything, kept: None,
    advance: Callable[[int], object] = lambda evaluations: None,
) -> Swept:
    """Computes what the folder lacks; a KeyboardInterrupt ends it with what is kept.

    `begin` hears how many evaluations there are and how many of them are kept from before, `advance`
    of each that is done. Raises BadInput; what was finished stays.
    """
    plan = {chunk.name: chunk for chunk in chunks}
    with opened(folder, manifest) as store:
        finished = store.finished()
        todo = [chunk for name, chunk in plan.items() if name not in finished]
        found = Swept(len(plan), len(plan) - len(todo))
        everything = _evaluations(chunks)
        begin(everything, everything - _evaluations(todo))
        try:
            for name in kept(runner(todo, store) if todo else (), store):
                found.computed += 1
                advance(plan[name].job.evaluations)
        except KeyboardInterrupt:
            store.close()  # so that the count below stays right
            found.interrupted = True
            found.computed = len(store.finished()) - found.kept
    return found


def kept(written: Iterable[tuple[str, Path]], store: Store) -> Iterator[str]:
    """The names of shards as they are kept: each goes to the disk while the next one is computed."""
    with ThreadPoolExecutor(1) as disk:
        before: Future[str] | None = None
        for name, part in written:
            if before:
                yield before.result()
            before = disk.submit(store.keep, name, part)
        if before:
            yield before.result()


def _evaluations(chunks: Sequence[Chunk]) -> int:
    return sum(chunk.job.evaluations for chunk in chunks)
