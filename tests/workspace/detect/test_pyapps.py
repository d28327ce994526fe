"""Applications in Python files, and what serves them."""

from textwrap import dedent

import pytest

from harness_executor.workspace.detect.pyapps import apps, factories, servings, subclasses
from harness_executor.workspace.detect.pysource import Source, parse_source
from harness_executor.workspace.detect.values import Place, Port


def parsed(code: str, name: str = "a.py") -> Source:
    """A file of this code."""
    source = parse_source(name, dedent(code))
    assert source is not None
    return source


def test_a_class_made_from_one_of_a_framework_makes_applications() -> None:
    """Over several files and steps; a class of the project's own does not."""
    first = parsed("from sanic import Sanic\nclass Base(Sanic): pass\nclass Other: pass")
    second = parsed("from first import Base\nclass App(Base): pass\napp = App()\nother = Other()", "b.py")
    makers = subclasses((first, second))
    assert makers == {"Base": "sanic", "App": "sanic"}
    assert [(app.name, app.framework) for app in apps(second, makers)] == [("app", "sanic")]


def test_an_application_may_be_served_where_it_is_made() -> None:
    """`App().run(port=…)` serves; a run of something else does not."""
    source = parsed(
        "from app import App\nif __name__ == '__main__':\n    App().run(port=8001)\n    Job().run()"
    )
    seen = list(servings(source, {}, {"App": "sanic"}))
    assert [(one.by, one.port.number) for one in seen] == [("sanic", 8001)]


def test_a_function_may_hand_on_what_another_one_makes() -> None:
    """`return create_app(store)` gives an application too; a function with arguments of its own does not."""
    source = parsed(
        """
        import falcon
        def create_app(store):
            app = falcon.App()
            return app
        def get_app():
            return create_app(open('/tmp/store'))
        def other(store):
            return create_app(store)
        def number():
            return int('1')
        """
    )
    made = {one.name: one.framework for one in factories(source)}
    assert made == {"create_app": "falcon"}
    assert [one.name for one in factories(source, made)] == ["create_app", "get_app"]


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        ("", 8080),
        ("cherrypy.config.update({'server.socket_port': 8099})", 8099),
        ("PORT = 8098\nCONFIG = {'global': {'server.socket_port': PORT}}", 8098),
    ],
)
def test_cherrypy_takes_its_port_from_a_table(settings: str, number: int) -> None:
    """By its own key, or it is the usual one."""
    source = parsed(
        f"import cherrypy\n{settings}\nif __name__ == '__main__':\n    cherrypy.quickstart(Root())\n"
    )
    assert [one.port.number for one in servings(source, {})] == [number]


@pytest.mark.parametrize(
    "bound", ["bind_socket(address='0.0.0.0', port=args.api_port)", "sock.bind(('0.0.0.0', args.api_port))"]
)
def test_a_socket_that_is_bound_first_has_the_port(bound: str) -> None:
    """`run_app(app, sock=sock)` does not serve on the usual port of aiohttp."""
    source = parsed(
        "from aiohttp.web import run_app\nparser.add_argument('--api-port', type=int, default=8081)\n"
        f"args = parser.parse_args()\nsock = {bound}\nrun_app(create_app(), sock=sock)\n"
    )
    assert [one.port for one in servings(source, {})] == [Port(Place.OPTION, 8081, "--api-port")]
