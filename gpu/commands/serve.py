"""The command `gpu serve`."""

from typing import Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.commands.generate import USUAL
from draftproof.gpu.commands.options import device, known_drafts, model, no_graphs
from draftproof.theory.errors import BadInput

LOCAL = "127.0.0.1"


@command("serve")
@model
@option(
    "--drafter", help="As --model; or features, block, ngram, none [default: the target's own, or ngram]."
)
@option("--verifier", help="As for `gpu generate`, or a specimen of `gpu validate`, which is lossy.")
@option("--draft", "spelling", callback=known_drafts, default="chain:4", show_default=True)
@option("--draft-temperature", type=FloatRange(min=0), help="The drafter's [default: the request's].")
@option("--host", default=LOCAL, show_default=True, help="The address to listen on.")
@option("--port", type=IntRange(0, 65535), default=8000, show_default=True)
@device
@no_graphs
def COMMAND(**options: Any) -> int:
    """Serve a pair over HTTP as OpenAI's API does, for tests and demonstrations.

    Completions and chat, through the speculative engine with any verifier and draft: n, temperature, top_k,
    top_p, min_p, penalties, logit_bias, stop, seed, JSON schemas, log-probabilities. There is neither
    authentication nor encryption, and one request is decoded at a time. Ctrl-C ends it.
    """
    try:
        import uvicorn

        from draftproof.gpu.serve.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("uvicorn", "starlette"):
            raise
        raise BadInput(f"gpu serve needs {error.name}: pip install 'draftproof[serve]'") from None
    from draftproof.gpu.checks.models.lossy import LOSSY
    from draftproof.gpu.checks.row_test import checked_pair
    from draftproof.gpu.drafters.structures import structure
    from draftproof.gpu.serve.answers import Engine
    from draftproof.gpu.verify import named

    shape = structure(options["spelling"])
    name = options["verifier"] or USUAL.get(shape.kind, "traversal")
    specimens = {each.verifier.name: each.verifier for each in LOSSY}
    verifier = specimens.get(name) or named(name)
    pair = checked_pair(options["model"], options["drafter"], options["device"])
    called = options["model"] or "shipped"
    made = Engine(called, *pair, verifier, shape, options["draft_temperature"])
    what = f"{name} on {shape.name}" if made.drafter else "plain decoding"
    echo(f"{called}: {what} at http://{options['host']}:{options['port']}/v1", err=True)
    uvicorn.run(app(made.answer, called), host=options["host"], port=options["port"], log_level="warning")
    return 0
