"""How a function is called and what it returns, found from its parameters' names and from a few calls.

Public verifiers take the same things under many names and in a few layouts: rows or logits, one request, a
batch, or the flat rows of a batch with the number of drafted tokens of each request. They return tokens,
tokens padded with -1, or the number of accepted tokens and the next one. `infer_signature` finds what fits.
"""

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.sources import Chance
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.sandbox import CALL_SECONDS, Fault, Observer, sandboxed
from draftproof.simulators.audit.targets.base import plainly, signature
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.audit.targets.readings import READINGS
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput

ROLES = {
    "p": """target_probs p target_p p_probs target_distribution target_dist verifier_probs large_probs probs_p
        main_probs""",
    "p_logits": """target_logits new_logits verifier_logits verify_logits p_logits large_logits logits
        target_log_probs target_logprobs""",
    "q": """draft_probs q draft_p q_probs draft_distribution draft_dist proposal_probs small_probs probs_q
        assistant_probs""",
    "q_logits": """draft_logits candidate_logits proposal_logits q_logits small_logits assistant_logits
        draft_log_probs draft_logprobs""",
    "tokens": """draft_tokens draft_token_ids draft_ids x tokens drafts candidate_input_ids candidates
        candidate_ids candidate_tokens proposal_tokens drafted proposed_tokens spec_token_ids spec_tokens
        draft_sampled""",
    "bonus": "bonus_token_ids bonus_tokens bonus_token",
    "counts": "num_draft_tokens num_drafts draft_lens",
    "ends": "cu_num_draft_tokens",
    "gamma": "gamma k candidate_length num_speculative_tokens max_spec_len max_matches num_spec_tokens",
    "rng": "rng generator",
    "position": "position",
    "temperature": "temperature temp",
    "false": "is_done_candidate last_assistant_token_is_eos greedy all_greedy",
}
"""What a parameter means -> its names."""

NAMES = {name: role for role, names in ROLES.items() for name in names.split()}
ROWS, TOKENS = {"p", "p_logits", "q", "q_logits"}, "tokens"
LAYOUTS = ("single", "batch", "one")
"""One request; the audited request beside another one in a batch; a batch of one. Flat batches have counts.
The other request decides nothing by chance: after some number of accepted tokens it is rejected. Its number,
and which of the two comes first, differ from draft to draft.
"""

NOT_CALLED = ("raises", "returns garbage")
UNREAD = ("raises", "returns garbage", "leaves the vocabulary")
"""Kinds of fault that mean, if every call has one, that arguments or results are spelled otherwise."""

CALLS = 12  # calls by which a layout is tried


def roles_of(function: Any, given: Sequence[str] | None = None) -> list[tuple[str, str, bool]] | None:
    """(name, role, by name) of the parameters that get an argument; None if one of them is unknown.

    >>> roles_of(lambda draft_token_ids, draft_probs, target_logits: 0)
    [('draft_token_ids', 'tokens', False), ('draft_probs', 'q', False), ('target_logits', 'p_logits', False)]
    """
    parameters = signature(function)
    if parameters is None:
        return None
    if given is not None:
        unknown = [role for role in given if role not in ROLES]
        if unknown or len(given) > len(parameters):
            what = f"{unknown[0]!r} is not one of {', '.join(ROLES)}" if unknown else "more than it has"
            raise BadInput(f"signature: {what}; the parameters are {inspect.signature(function)}")
    found = []
    for at, each in enumerate(parameters):
        role = given[at] if given is not None and at < len(given) else NAMES.get(each.name)
        optional = each.default is not each.empty or each.kind is each.VAR_KEYWORD
        if role is None and not optional:
            return None
        if role is not None and not (optional and role == "temperature"):
            found.append((each.name, role, each.kind is each.KEYWORD_ONLY or each.default is not each.empty))
    roles = {role for _, role, _ in found}
    named = {name for name, _, _ in found}
    alone = "logits" in named and not roles & {"q", "q_logits"}  # anybody's logits
    return found if TOKENS in roles and roles & {"p", "p_logits"} and not alone else None


def infer_signature(
    verify: Callable[..., Any],
    *,
    name: str = "",
    dtype: str | None = None,
    given: str | None = None,
    seconds: float = CALL_SECONDS,
    observer: Observer | None = None,
) -> Function:
    """The target of a function as it is written; `given` lists the roles of its parameters. The function is
    called a few times, which `observer` is told.

    A function of (target_probs, draft_probs, draft_tokens[, rng]) that returns tokens is taken as it is.
    Raises BadInput with what was found, what is known and the wrapper to write, if nothing fits.
    """
    verify = plainly(getattr(verify, "_torchdynamo_orig_callable", verify))  # torch.compile changes no law
    observer = observer or Observer()
    observer.progress(0, 1, "trial calls")
    plain, fault, problem, works = None, None, "", False
    roles = None if inspect.isclass(verify) else roles_of(_called(verify), given and given.split(","))
    if given is not None and roles is None:
        raise BadInput(f"signature {given}: must name tokens and p or p_logits")
    if given is None:
        try:
            plain = Function(verify, name=name, dtype=dtype)
        except BadInput as error:
            problem = str(error)
        else:
            works, fault = _tried(plain, seconds, observer)
            problem = str(fault or "")
            if roles is None or [role for _, role, _ in roles][:3] == ["p", "q", "tokens"]:
                if fault is None or (not works and fault.kind not in UNREAD):
                    return plain
                roles = roles or _usual(plain)
            else:
                works = False  # by chance: its parameters have another order
    made = None if roles is None else _read(verify, roles, name, dtype, seconds, observer)
    if made is None and plain is not None and (works or (fault and fault.kind not in NOT_CALLED)):
        return plain
    if made is None:
        raise BadInput(wrong_call(verify, name, problem))
    return made


def wrong_call(verify: Any, name: str, problem: str) -> str:
    """One line for a function that cannot be called: what was found, what is known, the wrapper to write."""
    try:
        found = str(inspect.signature(_called(verify)))
    except (TypeError, ValueError):
        found = "unknown"
    head = f"{name or getattr(verify, '__name__', verify)}: not audited: {problem or 'it cannot be called'}; "
    if "model" in found:
        return head + (
            f"its signature is {found[:200]}; if it takes models it is a generation loop: write a wrapper, "
            "def generate(target, draft, prompt, length, gamma): return [...]  # --loop (docs/audit.md)"
        )
    return head + (
        f"its signature is {found[:200]}; it must take target_probs [gamma + 1, V], draft_probs [gamma, V], "
        "draft_tokens [gamma] and perhaps rng, or such names as target_logits, draft_token_ids, "
        "cu_num_draft_tokens (docs/audit.md); `signature` in --settings names them, or write a wrapper: def "
        "verify(target_probs, draft_probs, draft_tokens, rng): return [...]"
    )


def _called(verify: Any) -> Any:
    verify = getattr(verify, "_torchdynamo_orig_callable", verify)
    return verify if inspect.isroutine(verify) or not hasattr(verify, "forward") else verify.forward


def _usual(plain: Function) -> list[tuple[str, str, bool]]:
    three = [(role, role, False) for role in ("p", "q", TOKENS)]
    return [*three, *((each, each, False) for each in plain._extra), *((e, e, True) for e in plain._named)]


def _read(
    verify: Any,
    roles: list[tuple[str, str, bool]],
    name: str,
    dtype: str | None,
    seconds: float,
    observer: Observer,
) -> Function | None:
    # The first layout and reading of results that fits every call.
    if inspect.isclass(verify):
        return None
    flat = {"counts", "ends"} & {role for _, role, _ in roles}
    space = _globals(verify)
    takes_rng = any(role == "rng" and not by_name for _, role, by_name in roles)
    kinds = (False,) if "torch" not in space else (False, True) if takes_rng else (True, False)
    for tensors, layout, read in product(kinds, ("flat",) if flat else LAYOUTS, READINGS):
        target = ByRoles(verify, roles, layout, read, tensors=tensors, name=name, dtype=dtype)
        works, fault = _tried(target, seconds, observer)
        if works and fault is None:
            return target
        if fault is not None and fault.kind == "hangs":
            return None
    return None


def _tried(target: Function, seconds: float, observer: Observer) -> tuple[bool, Fault | None]:
    # Whether some call works; and a fault of its result, or of all calls.
    every = isinstance(target, ByRoles)
    chance, works, raised, unread = Chance(np.random.Generator(np.random.PCG64(0))), 0, None, None
    pairs, other = 0, False  # calls that return two numbers, and whether the first is not the drafted token
    with sandboxed(min(seconds, 3.0), target.namespace, observer, target.name) as sandbox:
        for instance in (scenario("toy", Chain(2), 5), scenario("reversed", Chain(2), 5)):
            chosen = list(drafts(instance))
            for n in range(CALLS):
                _, draft = chosen[n % len(chosen)]
                chance.keyed.clear()
                sandbox.current.source = None  # a new run
                try:
                    target.reset()
                    word = target.call(sandbox, chance, target.prepare(instance.target, draft))
                except Fault as fault:
                    if every or fault.kind not in UNREAD:
                        return False, fault
                    raised, unread = fault, unread if fault.kind == "raises" else fault
                except BadInput as error:
                    return False, Fault("raises", str(error))
                except (NotEnumerable, Exception):
                    return not every, Fault(
                        "raises", "its call ends"
                    ) if every else None  # the audit says why
                else:
                    works += 1
                    pairs += len(word) == 2
                    other |= word[0] != draft.path[1].token
    target.draws_in_torch = bool(target.draws_in_torch)
    if pairs == works and other and not every and unread is None:
        unread = Fault("returns garbage", "two numbers that are not tokens")
    return works > 0, unread if works else raised


class ByRoles(Function):
    """A function called by the roles of its parameters, in one layout, with one reading of its result."""

    def __init__(
        self,
        verify: Any,
        roles: list[tuple[str, str, bool]],
        layout: str,
        read: Callable[[Any, list[int]], Any],
        *,
        tensors: bool,
        name: str = "",
        dtype: str | None = None,
    ):
        self.roles, self.layout, self.read, self.foreign = roles, layout, read, verify
        self.logits = any(role == "p_logits" for _, role, _ in roles)
        self.bonus = any(role == "bonus" for _, role, _ in roles)
        name = name or getattr(verify, "__name__", "function")
        super().__init__(self._spelled, name=name, dtype=dtype, tensors=tensors)
        self.origin, self.namespace = verify, _globals(verify)
        self.adapter += f", {layout}"

    def _spelled(self, p: Any, q: Any, x: Any, rng: Any) -> Any:
        arguments, named = self._arguments(p, q, x, rng)
        result = self.foreign(*arguments, **named)
        if self.layout != "single":
            result = _request(result, 0 if self.layout == "one" else _place(x))
        words = self.read(result, [int(each) for each in x])
        if self.bonus and words[-1] >= p.shape[1]:
            # The id V stands for a draw from the last row, which the engine makes elsewhere.
            row = p[-1]
            last = import_module("torch").multinomial(row, 1) if self.tensors else rng.choice(len(row), p=row)
            return [*words[:-1], int(last)]
        return words

    def _arguments(self, p: Any, q: Any, x: Any, rng: Any) -> tuple[list[Any], dict[str, Any]]:
        depth = len(x)
        library: Any = import_module("torch") if self.tensors else np
        if self.tensors:  # torch's own, unless it is asked for
            asked = any(role == "rng" and not by_name for _, role, by_name in self.roles)
            rng = library.default_generator if asked else None
        unit = library.eye(p.shape[1], dtype=p.dtype)
        accepted = sum(map(int, x)) // 2 % (depth + 1)  # of the other request's tokens, all of them 0
        other = library.stack([unit[int(at == accepted < depth)] for at in range(depth + 1)])
        even = library.stack([(unit[0] + unit[1]) / 2] * depth)

        def laid(values: Any, others: Any) -> Any:
            if self.layout == "single":
                return values
            both = [others[: len(values)], values][:: 1 if _place(x) else -1]
            if self.layout == "flat":
                return library.concatenate(both)
            return library.stack(both if self.layout == "batch" else [values])

        count = 2 if self.layout in ("batch", "flat") else 1
        bonus = p.shape[1]
        known: dict[str, Any] = {
            "gamma": depth,
            "rng": rng,
            "position": 0,
            "temperature": 1.0,
            "false": False,
            "counts": [depth] * count,
            "ends": library.asarray([depth * (at + 1) for at in range(count)]),
            "bonus": bonus if self.layout == "single" else library.asarray([[bonus]] * count),
            "tokens": laid(x, 0 * x),
        }
        with np.errstate(divide="ignore"):
            for role, values in (("p", laid(p[:-1] if self.bonus else p, other)), ("q", laid(q, even))):
                known |= {role: values, f"{role}_logits": library.log(values)}
        positional = [known[role] for _, role, by_name in self.roles if not by_name]
        return positional, {name: known[role] for name, role, by_name in self.roles if by_name}


def _globals(verify: Any) -> dict[str, Any]:
    return getattr(inspect.unwrap(_called(verify)), "__globals__", {})


def _place(x: Any) -> int:
    # Of the audited request in a batch.
    return 1 - sum(map(int, x)) % 2


def _request(result: Any, at: int) -> Any:
    # The part of a batch's result that belongs to one request.
    if isinstance(result, tuple):
        return tuple(_request(each, at) for each in result)
    single = not hasattr(result, "__getitem__") or getattr(result, "ndim", 1) == 0
    return result if single else result[at]
