"""Servers on ports of this machine."""

import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2 as httpx
import pytest


@pytest.fixture
def serve():
    """Serves a fake on a port of this machine: its URL."""
    running = []

    def at(fake):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                asked = httpx.Request(
                    "POST", f"http://fake{self.path}", content=body, headers=dict(self.headers)
                )
                answer = fake(asked)
                self.send_response(answer.status_code)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                with suppress(OSError):  # a client whose time is up has gone
                    self.wfile.write(answer.content)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield at
    for each in running:
        each.shutdown()
        each.server_close()


@pytest.fixture
def raw():
    """Serves by a function of a connection whose request was read, or nothing at all if it is None: a URL."""
    running = []

    def one(link, answer):
        with link:
            try:
                link.recv(65536)
                answer(link)
            except OSError:
                pass  # the client has gone

    def accept(server, answer):
        while True:
            try:
                link, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(link, answer), daemon=True).start()

    def at(answer):
        server = socket.create_server(("127.0.0.1", 0), backlog=1)
        running.append(server)
        if answer is not None:
            threading.Thread(target=accept, args=(server, answer), daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield at
    for each in running:
        each.close()
