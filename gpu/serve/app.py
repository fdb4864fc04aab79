"""The ASGI application: routes, errors and the lock, since the engine runs one request at a time."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, Thread
from typing import Any, TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from draftproof.theory.errors import BadInput

Answer: TypeAlias = Callable[[Any, bool], dict[str, Any]]
"""(body, whether it is a chat) -> answer, as `answers.Engine.answer`."""


def app(answer: Answer, model: str) -> Starlette:
    """The application that serves one model. A body that cannot be served gets status 400 and one line."""
    lock = Lock()

    def locked(body: Any, chat: bool) -> dict[str, Any]:
        with lock:
            return answer(body, chat)

    async def served(request: Request, chat: bool) -> JSONResponse:
        try:
            body = json.loads(await request.body())
        except ValueError:
            return _refusal("the body is not JSON")
        try:
            return JSONResponse(await run_in_threadpool(locked, body, chat))
        except BadInput as error:
            return _refusal(str(error))

    async def models(request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": [{"id": model, "object": "model"}]})

    return Starlette(
        routes=[
            Route("/v1/completions", partial(served, chat=False), methods=["POST"]),
            Route("/v1/chat/completions", partial(served, chat=True), methods=["POST"]),
            Route("/v1/models", models),
        ]
    )


@contextmanager
def local(answer: Answer, model: str) -> Iterator[str]:
    """Serves one model from a thread of this process, at a free port of this machine: its URL."""
    server = uvicorn.Server(uvicorn.Config(app(answer, model), port=0, log_level="error"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def _refusal(message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": "invalid_request_error"}}, status_code=400)
