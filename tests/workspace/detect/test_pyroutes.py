"""Routes as Python code writes them."""

from textwrap import dedent

import pytest

from harness_executor.workspace.detect.pyroutes import included, joined, routes
from harness_executor.workspace.detect.pysource import parse_source


def read(code: str) -> set[str]:
    """The routes of some code."""
    source = parse_source("a.py", dedent(code))
    assert source is not None
    return {f"{route.method} {route.path}" for route in routes(source)}


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("@app.route('/a', methods=['GET', 'POST'])\ndef a(): pass", {"GET /a", "POST /a"}),
        ("router = APIRouter(prefix='/items')\n@router.get('')\ndef a(): pass", {"GET /items"}),
        ("bp = Blueprint('x', __name__, url_prefix='/x')\n@bp.get('/y')\ndef a(): pass", {"GET /x/y"}),
        ("routes = [Route('/s', f), Route('/t', g, methods=['POST'])]", {"GET /s", "POST /t"}),
        ("from django.urls import path\nurlpatterns = [path('b/', v)]", {"ANY /b/"}),
        ("router.register('books', V)", {"ANY /books/"}),
        ("app.router.add_get('/g', f)", {"GET /g"}),
        ("app.router.add_route('POST', '/p', f)", {"POST /p"}),
        ("config.add_route('home', '/h')", {"GET /h"}),
        ("app.add_route('/r', f)", {"GET /r"}),
        ("import tornado.web\ntornado.web.Application([(r'/w', H)])", {"ANY /w"}),
        ("class H:\n def do_GET(self):\n  if self.path == '/k': pass", {"GET /k"}),
        ("requests.get('https://example.org')", set()),
        ("data.get('key')", set()),
    ],
)
def test_knows_how_frameworks_write_routes(code: str, wanted: set[str]) -> None:
    """Decorators, tables, routers, and comparisons of the standard library."""
    assert read(code) == wanted


def test_prefixes_of_routers_are_found() -> None:
    """include_router, register_blueprint, mount and Django's include."""
    code = """
        from django.urls import include, path
        app.include_router(r, prefix="/api")
        app.register_blueprint(b, url_prefix="/web")
        app.mount("/static", s)
        path("v1/", include(x))
    """
    source = parse_source("a.py", dedent(code))
    assert source is not None
    assert set(included(source)) == {"/api", "/web", "/static", "/v1/"}
    assert joined("/api/", "/x") == "/api/x"


def test_a_router_hands_its_own_prefix_on() -> None:
    """What is put into one that has a prefix lies below both."""
    code = """
        from fastapi import APIRouter
        api = APIRouter(prefix="/api")
        api.include_router(users)
        api.include_router(orders, prefix="/orders")
    """
    source = parse_source("a.py", dedent(code))
    assert source is not None
    assert set(included(source)) == {"/api", "/api/orders"}
