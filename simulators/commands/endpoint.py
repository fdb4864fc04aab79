"""The command `endpoint`."""

import os
from pathlib import Path
from typing import Any

import click

from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.simulators.commands.options import PATH, json_option, settings
from draftproof.theory.errors import BadInput, extra, located, quoted

PROBABILITY = click.FloatRange(0, 1, min_open=True, max_open=True)
POSITIVE = click.FloatRange(0, min_open=True)


@click.command(context_settings={"show_default": True})
@click.argument("url", metavar="URL", required=False)
@click.option("--acceptance", type=PATH, metavar="FILE", help="Judge the acceptance of responses instead.")
@click.option("--against", metavar="URL", help="A second server that URL should sample as.")
@click.option("--model", help="The model's name  [default: the first that URL lists]")
@click.option("--chat", is_flag=True, help="Ask by chat instead of completions.")
@click.option("--prompts", type=PATH, help="One prompt a line, as text or a JSON string  [default: two]")
@click.option("--tokens", type=click.IntRange(1), default=25_000, help="Most tokens that are asked for.")
@click.option("--seconds", type=click.FloatRange(1), default=600.0, help="Longest time of the whole run.")
@click.option("--length", type=click.IntRange(1), default=4, help="Tokens of a text; at least a whole draft.")
@click.option("--detect", type=PROBABILITY, default=0.05, help="Total variation that must have shown for 0.")
@click.option("--error", type=PROBABILITY, default=1e-3, help="Probability of rejecting a right server.")
@click.option("--law-only", is_flag=True, help="Do not check temperature, filters, stop and so on.")
@click.option("--key-from", metavar="VARIABLE", help="Where the key is read from  [default: OPENAI_API_KEY]")
@settings(
    click.option("--choices", type=click.IntRange(1), default=32),
    click.option("--temperature", type=POSITIVE, default=1.0),
    click.option("--top-k", type=click.IntRange(0), default=0),
    click.option("--top-p", type=click.FloatRange(0, 1, min_open=True), default=1.0),
    click.option("--concurrency", type=click.IntRange(1, 256), default=4),
    click.option("--timeout", type=POSITIVE, default=60.0),
    click.option("--retries", type=click.IntRange(0), default=4),
    click.option("--against-model"),
    click.option("--gamma", type=click.IntRange(1)),
    click.option("--tolerance", type=PROBABILITY, default=1e-3),
)
@json_option
def endpoint(url: str | None, **options: Any) -> int:
    """Does a running server sample as it should?

    URL is that of an OpenAI-compatible server, such as http://localhost:8000/v1, which decodes speculatively.
    Tests are sequential: whenever they end, a right server is rejected with a probability of at most --error.
    Exit status 0 if nothing was found, 1 if a test rejected, 2 for bad input, 3 if undecided: the server
    stopped answering, too little was judged to see what --detect asks for, or there are neither
    log-probabilities nor --against.

    With --acceptance and no URL: do the steps that responses report follow the rows of both models? FILE has
    a response a line, written by `draftproof gpu record --served`; --detect is then the share of accepted
    tokens whose loss must have shown.
    """
    if (url is None) == (options["acceptance"] is None):
        raise BadInput("give a URL, or --acceptance FILE" + ", not both" * (url is not None))
    if url is None:
        return _acceptance(**options)
    with extra("endpoint"):
        from draftproof.simulators.endpoint.client import Client
        from draftproof.simulators.endpoint.compare import Comparison
        from draftproof.simulators.endpoint.laws import Setting
        from draftproof.simulators.endpoint.run import PROMPTS, Plan, Run, prompts

    plan = Plan(
        prompts=PROMPTS if options["prompts"] is None else prompts(options["prompts"]),
        setting=Setting(options["temperature"], options["top_k"], options["top_p"]),
        settings=not options["law_only"],
        **{name: options[name] for name in ("tokens", "seconds", "length", "choices", "error", "detect")},
    )
    variable: str = options["key_from"] or "OPENAI_API_KEY"
    key = os.environ.get(variable)
    if options["key_from"] and not key:
        raise BadInput(f"--key-from: the environment variable {quoted(variable)} is not set")

    def client(where: str) -> Client:
        return Client(where, key, **{name: options[name] for name in ("timeout", "retries", "concurrency")})

    with screen.progress("tokens") as bar:
        task = bar.add_task("asking", total=plan.tokens)

        def progress(done: int, total: int, doing: str) -> None:
            bar.update(task, completed=done, total=total, description=doing)

        if options["against"] is None:
            report = Run(client(url), plan, progress).go([options["model"]], options["chat"])
        else:
            both = client(url), client(options["against"])
            models = options["model"], options["against_model"]
            report = Comparison(both, plan, progress).go(models, options["chat"])
    screen.answer(report.answer(), report, options["as_json"])
    if report.stopped == "interrupted":
        return INTERRUPTED
    if report.stopped and options["as_json"]:
        click.echo(report.stopped, err=True)
    return report.status


def _acceptance(acceptance: Path, gamma: int | None, detect: float, as_json: bool, **options: Any) -> int:
    from draftproof.simulators.endpoint.acceptance import Acceptance, said, served

    found = Acceptance(options["error"], options["tolerance"])
    for number, each in enumerate(served(acceptance, gamma), 1):
        with located(f"{acceptance}, response {number}"):
            found.add(each)
    answer = found.answer(detect)
    screen.answer(answer, said(answer), as_json)
    return {"nothing found": 0, "rejected": 1}.get(answer["verdict"], 3)
