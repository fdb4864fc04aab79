"""A program in any language as a target: it answers questions on standard input, one JSON line each.

docs/other-languages.md describes the questions and the answers.
"""

import json
import shlex
import subprocess
import tempfile
import weakref
from contextlib import suppress
from functools import lru_cache
from threading import Timer
from typing import IO, Any

import numpy as np

from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.sandbox import Fault
from draftproof.simulators.audit.targets.base import INPUTS
from draftproof.simulators.audit.targets.functions import Function
from draftproof.theory.errors import BadInput, quoted

MOST_UNIFORMS = 4_096  # that a program may ask for in one call
LONGEST = 2**20  # characters of an answer
PATIENCE = 60.0  # seconds in which the first question must be answered

GREETING = '{"target_probs": [[0.5, 0.5], [0.5, 0.5]], "draft_probs": [[0.5, 0.5]], "draft_tokens": [0], ' + (
    '"uniforms": [0.5, 0.5]}'
)
"""A question whose answer does not matter."""


class ForeignProgram(Function):
    r"""A program that verifies drafts on chains.

    `command` is split as a shell does. The program is started once; if it ends, it is started anew. Raises
    BadInput if it cannot be started or does not answer a first question.

    >>> ForeignProgram('yes \'{"tokens": [0]}\'').adapter
    'foreign program'
    """

    def __init__(self, command: str, *, dtype: str | None = None):
        self._program = _Program(command)
        super().__init__(self._ask, name=command, dtype=dtype, tensors=False)
        self.draws_in_torch = False
        self.adapter, self.style = "foreign program", "exec"
        self.loaded = {"name": command, "dtype": dtype}
        self.namespace = {}  # the audited code is not in this module
        self.questions = 0  # asked so far
        self._uniform = np.float64 if self.dtype == "float64" else np.float32

    def _ask(self, target_probs: Any, draft_probs: Any, draft_tokens: Any, rng: Any) -> list[int]:
        arrays = (target_probs, draft_probs, draft_tokens)
        question = _question(*((array.tobytes(), array.dtype.str, array.shape) for array in arrays))
        uniforms: list[float] = []
        count = len(draft_tokens) + 1
        while True:
            uniforms += [float(rng.random(dtype=self._uniform)) for _ in range(count - len(uniforms))]
            self.questions += 1
            answer = self._program.answer(f'{question}, "uniforms": {json.dumps(uniforms)}}}')
            if "need" not in answer:
                break
            count = _number(answer, "need", len(uniforms) + 1)
            if count > MOST_UNIFORMS:
                raise NotEnumerable(f"it asks for {count:,} uniforms; the most are {MOST_UNIFORMS:,}")
        used = _number(answer, "used", 0) if "used" in answer else len(uniforms)
        if used > len(uniforms):
            raise Fault("returns garbage", f"it used {used} uniforms of {len(uniforms)}")
        if hasattr(rng, "unread"):
            rng.unread(len(uniforms) - used)
        return answer["tokens"]


@lru_cache(4096)
def _question(*arrays: tuple[bytes, str, tuple[int, ...]]) -> str:
    # The JSON of the arrays, not closed yet. NaN is null, since JSON has no name for it.
    values = (np.frombuffer(data, kind).reshape(shape).tolist() for data, kind, shape in arrays)
    return json.dumps(dict(zip(INPUTS, values, strict=True)))[:-1].replace("NaN", "null")


def _number(answer: dict[str, Any], key: str, least: int) -> int:
    if type(answer[key]) is not int or answer[key] < least:
        raise Fault("returns garbage", f"{key} is {quoted(answer[key])}, not a number from {least} on")
    return answer[key]


class _Program:
    # A running program. A fault at the question that it is greeted with is bad input: it is no verifier.
    def __init__(self, command: str):
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise BadInput(f"{quoted(command)}: {error}") from None
        if not self._command:
            raise BadInput("the command is empty")
        try:
            process = self._running()
        except OSError as error:
            raise BadInput(f"{command}: cannot be started: {error.strerror}") from None
        impatience = Timer(PATIENCE, process.kill)
        impatience.start()
        try:
            self.answer(GREETING)
        except Fault as fault:
            raise BadInput(f"{command}: at the first question: {fault.kind}: {fault.what}") from None
        finally:
            impatience.cancel()

    def answer(self, question: str) -> dict[str, Any]:
        """The program's answer to one question: an object with `tokens` or `need`."""
        process, line, ended = self._running(), b"", ""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(question.encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline(LONGEST)
            if not line:
                process.wait(1.0)  # it is about to end by itself
        except (BrokenPipeError, subprocess.TimeoutExpired):
            pass
        finally:
            if not line.endswith(b"\n"):  # it ended, or the time limit interrupts the call
                ended = self._stop()
        if not line:
            raise Fault("dies", ended)
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not found.keys() & {"tokens", "need"}:
            raise Fault("returns garbage", f"{quoted(line.decode(errors='replace').strip())} is no answer")
        return found

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            errors = tempfile.TemporaryFile()  # noqa: SIM115, closed in _ended
            try:
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
                )
            except OSError:
                errors.close()
                raise
            # Unlike __del__, a finaliser keeps the pipes alive until it has closed them.
            self._end = weakref.finalize(self, _ended, self._process, errors)
        return self._process

    def _stop(self) -> str:
        # How the program ended.
        self._process = None
        return self._end() or ""


def _ended(process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    process.kill()  # has no effect on its exit status if it ended by itself
    status = process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):
            pipe.close()  # type: ignore[union-attr]
    with errors:
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    return f"its exit status is {status}" + (f": {lines[-1]:.200}" if lines else "")
