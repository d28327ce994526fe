"""Programs of AdonisJS."""

import json
from pathlib import Path

from tests.workspace.detect.trees import commands, found

_PACKAGE = {
    "type": "module",
    "scripts": {"start": "node bin/server.js", "build": "node ace build", "dev": "node ace serve --watch"},
    "dependencies": {"@adonisjs/core": "6", "@adonisjs/lucid": "20"},
}
_TREE = {
    "package.json": json.dumps(_PACKAGE),
    "ace.js": "await import('./bin/console.js')",
    "adonisrc.ts": "export default defineConfig({})",
    "bin/server.ts": "new Ignitor(APP_ROOT).httpServer().start()",
}


def test_ace_serves_what_is_not_built(tmp_path: Path) -> None:
    """The script start is for the folder that the build makes, and that is not there."""
    best = found(tmp_path, _TREE).candidates[0]
    assert (best.command, best.env) == ("node ace serve", {"PORT": "{port}", "HOST": "127.0.0.1"})


def test_lucid_migrates_first(tmp_path: Path) -> None:
    """Only where there are migrations."""
    seen = found(tmp_path, _TREE | {"database/migrations/1_users.ts": "export default class {}"})
    best = seen.candidates[0]
    assert [step.command for step in seen.steps(seen.stack_of(best), best)] == [
        "node ace migration:run --force"
    ]


def test_javascript_is_started_as_its_script_says(tmp_path: Path) -> None:
    """There is nothing that ace would have to compile."""
    tree = {name: text for name, text in _TREE.items() if name != "bin/server.ts"}
    assert "node ace serve" not in commands(found(tmp_path, tree | {"bin/server.js": "app.listen(80)"}))
