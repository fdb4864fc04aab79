"""How a function is called and what it returns, found from its parameters' names and from a few calls.

Public verifiers take the same things under many names and in a few layouts: rows or logits, one request, a
batch, or the flat rows of a batch with the number of drafted tokens of each request. They return tokens,
tokens padded with -1, or the number of accepted tokens and the next one. `infer_signature` finds what fits,
or says what was tried, how far each trial came, and which names are unknown.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, product
from traceback import walk_tb
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.sources import Chance
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.sandbox import CALL_SECONDS, TRYING, Fault, Observer, sandboxed
from draftproof.simulators.audit.targets.base import Parameter, signature
from draftproof.simulators.audit.targets.batches import BESIDE, ByRoles, Selection, called, namespace_of
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.audit.targets.readings import READINGS
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.enumerate import drafts
from draftproof.simulators.support.load import uncompiled
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput

ROLES = {
    "p": """target_probs p target_p p_probs target_distribution target_dist target_distributions
        target_probabilities verifier_probs large_probs probs_p main_probs""",
    "p_logs": "target_log_probs target_logprobs",
    "p_logits": """target_logits new_logits verifier_logits verify_logits p_logits large_logits
        logits""",
    "q": """draft_probs q draft_p q_probs draft_distribution draft_dist draft_distributions
        draft_probabilities proposal_probs small_probs probs_q assistant_probs""",
    "q_logits": """draft_logits candidate_logits proposal_logits q_logits small_logits assistant_logits
        draft_log_probs draft_logprobs""",
    "tokens": """draft_tokens draft_token_ids draft_ids x tokens drafts candidate_input_ids candidates
        candidate_ids candidate_tokens proposal_tokens drafted proposed proposed_tokens proposals
        spec_token_ids spec_tokens draft_sampled""",
    "rooted": "rooted_tokens",
    "bonus": "bonus_token_ids bonus_tokens bonus_token",
    "counts": "num_draft_tokens num_drafts draft_lens",
    "ends": "cu_num_draft_tokens",
    "gamma": "gamma k candidate_length num_speculative_tokens max_spec_len max_matches num_spec_tokens",
    "rng": "rng generator",
    "position": "position",
    "temperature": "temperature temp",
    "temperatures": "temperatures temps",
    "capacity": "capacity",
    "false": "is_done_candidate last_assistant_token_is_eos greedy all_greedy",
}
"""What a parameter means -> its names."""

NAMES = {name: role for role, names in ROLES.items() for name in names.split()}
LAYOUTS = {
    "single": "one request",
    "flat": "flat rows",
    "batch": f"a batch of {BESIDE}",
    "one": "a batch of one",
}
"""How a function may take its arguments, and the words for it."""

UNREAD = ("raises", "returns garbage", "leaves the vocabulary")
"""Kinds of fault that mean, if every call has one, that arguments or results are spelled otherwise."""

UNSURE = "returns a count that is never 0"
CALLS = 12  # calls by which a layout is tried on each of two instances
ENOUGH = 4  # calls that must work if others raise


@dataclass
class Trial:
    """What came of calling a function in one way: the calls that work, and a fault of its result, of its
    calls, or None.
    """

    target: Function
    works: int = 0
    fault: Fault | None = None

    @property
    def reached(self) -> tuple[float, int, bool]:
        """How far it came: to a result, or to a line of the function; the number of calls that work; and
        whether it was called by the names of its parameters.
        """
        named = isinstance(self.target, ByRoles)
        if self.fault is None or self.fault.kind != "raises":
            return float("inf"), self.works, named
        function = called(self.target.origin)
        code, lines = getattr(inspect.unwrap(function), "__code__", None), [0]
        error: BaseException | None = self.fault
        while error is not None:
            lines += [line for frame, line in walk_tb(error.__traceback__) if frame.f_code is code]
            error = error.__context__
        return max(lines), self.works, named

    def __str__(self) -> str:
        arrays = "tensors" if self.target.tensors else "arrays"
        return f"called with {LAYOUTS[self.target.layout]}, in {arrays}, it {self.fault}"


def roles_of(function: Any) -> tuple[list[Parameter] | None, str]:
    """The parameters that get an argument, with their roles; None, and why, if a name is unknown or missing.

    >>> roles_of(lambda draft_token_ids, draft_probs, target_logits: 0)[0]
    [('draft_token_ids', 'tokens', False), ('draft_probs', 'q', False), ('target_logits', 'p_logits', False)]
    >>> roles_of(lambda target_probs, draft_probs, draft_tokens, config: 0)[1]
    "'config' is no known name"
    """
    parameters = signature(function)
    if parameters is None:
        return None, "its parameters are not named"
    found, unknown = [], []
    for each in parameters:
        role = NAMES.get(each.name)
        optional = each.default is not each.empty or each.kind is each.VAR_KEYWORD
        if role is None and not optional:
            unknown.append(repr(each.name))
        if role is not None and not (optional and role in ("temperature", "temperatures")):
            found.append((each.name, role, each.kind is each.KEYWORD_ONLY or each.default is not each.empty))
    if unknown:
        return None, f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} no known name"
    roles = {role for _, role, _ in found}
    if any(name == "logits" for name, _, _ in found) and not {"q", "q_logits"} & roles:
        return None, "'logits' may be those of the target or of the draft"
    if not {"tokens", "rooted"} & roles:
        return None, "no name is known of drafted tokens"
    if not {"p", "p_logs", "p_logits"} & roles:
        return None, "no name is known of the rows of the target"
    return found, ""


def infer_signature(
    verify: Callable[..., Any],
    *,
    name: str = "",
    dtype: str | None = None,
    seconds: float = CALL_SECONDS,
    observer: Observer | None = None,
) -> Function:
    """The target of a function as it is written. It is called a few times, which `observer` is told.

    A function of (target_probs, draft_probs, draft_tokens[, rng]) that returns tokens is taken as it is, and
    one of (target_probs, draft_probs, draft_tokens, capacity) as a selection rule. Raises BadInput with what
    was tried, which names are unknown and the wrapper to write, if nothing fits.
    """
    verify = uncompiled(verify)
    if inspect.isclass(verify) and not any("__call__" in vars(each) for each in verify.__mro__):
        methods = ", ".join(each for each in vars(verify) if not each.startswith("_"))
        raise BadInput(
            f"{name or verify.__name__}: its objects are not called; name a method of it: {methods}"
        )
    observer = observer or Observer()
    roles, unknown = (None, "") if inspect.isclass(verify) else roles_of(called(verify))
    order = [role for _, role, _ in roles or ()]
    observer.progress(0, 1, "trial calls" if order[:3] == ["p", "q", "tokens"] else TRYING)
    if order[:4] == ["p", "q", "tokens", "capacity"]:
        return Selection(verify, name=name, dtype=dtype)
    trials: list[Trial] = []
    plain, problem, attempt = None, "", partial(_tried, seconds=seconds, observer=observer)
    try:
        plain = attempt(Function(verify, name=name, dtype=dtype))
    except BadInput as error:
        problem = str(error)
    else:
        trials.append(plain)
        if roles is None or order[:3] == ["p", "q", "tokens"]:
            if plain.fault is None or (not plain.works and plain.fault.kind not in UNREAD):
                return plain.target
            roles = roles or (None if inspect.isclass(verify) else [*plain.target.roles])
        else:
            plain.works = 0  # by chance: its parameters have another order
    if roles is not None:
        make = partial(ByRoles, verify, roles, name=name, dtype=dtype)
        made = _read(make, roles, "torch" in namespace_of(verify), attempt, trials)
        if made is not None:
            return made
    if plain is not None and (plain.works or (plain.fault and plain.fault.kind not in UNREAD[:2])):
        return plain.target
    raise BadInput(wrong_call(verify, name, problem, unknown, trials))


def wrong_call(verify: Any, name: str, problem: str, unknown: str, trials: Sequence[Trial]) -> str:
    """One line for a function that cannot be called: the trial that came farthest, what else was tried, the
    names that are unknown, and the wrapper to write.
    """
    try:
        found = str(inspect.signature(called(verify)))
    except (TypeError, ValueError):
        found = "unknown"
    farthest = max(trials, key=lambda trial: trial.reached, default=None)
    if farthest is not None:
        problem = str(farthest)
    tried = ", ".join(dict.fromkeys(LAYOUTS[trial.target.layout] for trial in trials))
    parts = [unknown, problem or "it cannot be called", tried and f"tried: {tried}"]
    head = f"{name or getattr(verify, '__name__', verify)}: not audited: {'; '.join(filter(None, parts))}; "
    if any(word in found for word in ("model", "max_new_tokens", "prompt")):
        return head + (
            f"its signature is {found[:200]}; if it takes models it is a generation loop: write a wrapper, "
            "def generate(target, draft, prompt, length, gamma): return [...]  # --loop"
        )
    return head + (
        f"its signature is {found[:200]}; it must take target_probs [gamma + 1, V], draft_probs [gamma, V], "
        "draft_tokens [gamma] and perhaps rng, or such names as target_logits, draft_token_ids, "
        "cu_num_draft_tokens; or write a wrapper: def "
        "verify(target_probs, draft_probs, draft_tokens, rng): return [...]"
    )


def _read(
    make: Callable[..., ByRoles],
    roles: list[Parameter],
    torch: bool,
    attempt: Callable[[Function], Trial],
    trials: list[Trial],
) -> Function | None:
    # The first layout and reading of results that fits every call; else one that fits but for calls that
    # raise, of several requests rather than of one. What is tried is added to `trials`.
    flat = {"counts", "ends"} & {role for _, role, _ in roles}
    layouts = [layout for layout in LAYOUTS if layout != ("single" if flat else "flat")]
    takes_rng = any(role == "rng" and not by_name for _, role, by_name in roles)
    kinds = (not takes_rng, takes_rng) if torch else (False, True) if "torch" in sys.modules else (False,)
    mostly: list[Function] = []
    for layout, tensors in product(layouts, kinds):
        if layout == "one" and mostly:
            break
        for read in READINGS:
            target = make(layout, read, tensors=tensors)
            trial = attempt(target)
            trials.append(trial)
            fault = trial.fault
            if trial.works and fault is None:
                several = [other for other in trials if other.target.layout in ("batch", "flat")]
                if layout == "one" and several:
                    farthest = max(several, key=lambda other: other.reached)
                    target.alone = f"among {BESIDE} requests it {farthest.fault}"
                return target
            if fault is not None and fault.kind == "raises" and trial.works >= ENOUGH:
                mostly.append(target)
            if fault is None or fault.kind == "raises":
                break
            if fault.kind in ("hangs", UNSURE):
                return None
    return mostly[0] if mostly else None


def _tried(target: Function, seconds: float, observer: Observer) -> Trial:
    every, trial = isinstance(target, ByRoles), Trial(target)
    chance, raised, unread = Chance(np.random.Generator(np.random.PCG64(0))), None, None
    pairs, other, shortest = 0, False, 2  # calls with two numbers; whether the first was not drafted; words
    with sandboxed(min(seconds, 3.0), target.namespace, observer) as sandbox:
        for instance in (scenario("toy", Chain(2), 5), scenario("reversed", Chain(1), 5)):
            for n, (_, draft) in enumerate(islice(cycle(drafts(instance)), CALLS)):
                chance.keyed.clear()
                sandbox.current.source = None  # a new run
                try:
                    target.reset()
                    word = target.call(sandbox, chance, target.prepare(instance.target, draft))
                except Fault as fault:
                    hopeless = every and (fault.kind != "raises" or (n >= ENOUGH and not trial.works))
                    if fault.kind not in UNREAD or hopeless:
                        trial.fault = fault
                        return trial
                    raised, unread = raised or fault, unread if fault.kind == "raises" else fault
                except BadInput as error:
                    trial.fault = Fault("raises", str(error))
                    return trial
                except (NotEnumerable, Exception):
                    trial.works += not every  # the audit says why
                    trial.fault = Fault("raises", "its call ends") if every else None
                    return trial
                else:
                    trial.works += 1
                    pairs += len(word) == 2
                    shortest = min(shortest, len(word))
                    other |= word[0] != draft.path[1].token
    target.draws_in_torch = bool(target.draws_in_torch)
    if pairs == trial.works and other and unread is None:
        raised, trial.works = Fault("returns garbage", "two numbers that are not tokens"), 0
    if trial.works and shortest > 1 and getattr(target, "read", None) in READINGS[-2:]:
        raised = Fault(UNSURE, "perhaps it counts the token before the draft too")
    trial.fault = raised if every or not trial.works else unread
    return trial
