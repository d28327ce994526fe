"""Programs in other languages."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect.values import Place
from tests.workspace.detect.trees import found


def test_go_servers_are_found(tmp_path: Path) -> None:
    """A main package that listens, and the port it listens on."""
    code = (
        'package main\nimport "net/http"\n'
        'func main() { http.HandleFunc("/ping", f); http.ListenAndServe(":8081", nil) }\n'
    )
    seen = found(tmp_path, {"go.mod": "module x", "cmd/api/main.go": code})
    best = seen.candidates[0]
    assert (best.command, best.port.place, best.fixed_port) == ("go run ./cmd/api", Place.FIXED, 8081)
    assert seen.main is not None
    assert (seen.main.language, seen.main.commands.test) == ("go", "go test ./...")


def test_other_languages_have_their_usual_commands(tmp_path: Path) -> None:
    """Known by their manifest."""
    main = found(tmp_path, {"Cargo.toml": "[package]\nname = 'x'\n"}).main
    assert main is not None
    assert (main.language, main.commands.build) == ("rust", "cargo build")


@pytest.mark.parametrize(
    ("files", "what"),
    [({"composer.json": "{}", "index.php": "<?php\n"}, "php"), ({"index.html": "<h1>"}, "this project")],
)
def test_what_is_not_looked_for_is_not_called_absent(
    tmp_path: Path, files: dict[str, str], what: str
) -> None:
    """No server is looked for in every language: then it is asked for."""
    (note,) = found(tmp_path, files).notes
    assert note.startswith(f"how a server of {what} is started is not known; ")
    assert "harness verify --start 'COMMAND {port}'" in note
