"""Where Python programs get their port from."""

from harness_executor.workspace.detect.pyports import option_of
from harness_executor.workspace.detect.pysource import parse_source
from harness_executor.workspace.detect.values import Place, Port


def option(code: str) -> Port:
    """The option for the port that some code has."""
    source = parse_source("a.py", code)
    assert source is not None
    return option_of(source)


def test_options_of_every_kind_are_known() -> None:
    """Those of argparse, click and tornado, with their defaults."""
    assert option("p.add_argument('-p', '--port', type=int, default=8001)") == Port(
        Place.OPTION, 8001, "--port"
    )
    assert option("@click.option('--port', default=8002)\ndef f(): ...") == Port(Place.OPTION, 8002, "--port")
    tornado = "from tornado.options import define\ndefine('port', default=8003, help='x')"
    assert option(tornado) == Port(Place.OPTION, 8003, "--port=")
    assert option("define('host', default='x')") == Port()


def test_an_option_for_a_port_may_say_whose_it_is() -> None:
    """Of several, a plain one is meant, or the one that is named."""
    assert option("p.add_argument('--api-port', default=8081)") == Port(Place.OPTION, 8081, "--api-port")
    assert option("p.add_argument('--redis-port', default=6379)") == Port()
    code = "p.add_argument('--web-port', default=1)\np.add_argument('--admin-port', default=2)"
    source = parse_source("a.py", code)
    assert source is not None
    assert option_of(source, "admin_port") == Port(Place.OPTION, 2, "--admin-port")
    assert option_of(source) == Port(Place.OPTION, 1, "--web-port")
