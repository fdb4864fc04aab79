"""The ASGI application: routes, errors and the lock, since the engine runs one request at a time."""

import json
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeAlias

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

    async def completions(request: Request) -> JSONResponse:
        return await served(request, chat=False)

    async def chat(request: Request) -> JSONResponse:
        return await served(request, chat=True)

    async def models(request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": [{"id": model, "object": "model"}]})

    return Starlette(
        routes=[
            Route("/v1/completions", completions, methods=["POST"]),
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/models", models),
        ]
    )


def _refusal(message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": "invalid_request_error"}}, status_code=400)
