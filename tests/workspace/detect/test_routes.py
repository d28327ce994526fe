"""Which routes are asked whether a server is ready."""

from harness_executor.workspace.detect.routes import composed, ready_paths
from harness_executor.workspace.detect.values import Route


def test_health_comes_first_and_parameters_never() -> None:
    """A route about health that the code has is asked first, then usual ones, then others in their order."""
    listed = (("GET", "/items"), ("GET", "/items/{id}"), ("POST", "/make"), ("GET", "/v1/healthz"))
    paths = ready_paths([Route(*one) for one in listed])
    assert paths[0] == "/v1/healthz"
    assert paths.index("/health") < paths.index("/items")
    assert not {"/items/{id}", "/make"} & set(paths)
    assert paths[-1] == "/"


def test_the_first_page_of_a_program_with_data_says_little() -> None:
    """It answers before the tables are there, which a route that reads them does not."""
    routes = [Route("GET", "/"), Route("GET", "/items")]
    plain, careful = ready_paths(routes), ready_paths(routes, has_data=True)
    assert plain.index("/") < plain.index("/items")
    assert careful.index("/items") < careful.index("/")


def test_words_that_only_begin_alike_are_not_about_health() -> None:
    """/upload and /statuses are ordinary routes."""
    assert ready_paths([Route("GET", "/upload"), Route("GET", "/statuses")])[0] == "/health"


def test_routes_are_tried_under_the_prefixes_of_routers() -> None:
    """Once, twice, and as they are."""
    found = {route.path for route in composed([Route("GET", "/x")], ["/api", "/v1/", ""])}
    assert found == {"/x", "/api/x", "/v1/x", "/api/v1/x", "/v1/api/x"}
