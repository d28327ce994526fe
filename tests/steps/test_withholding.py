"""What models are not shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.config import config_home
from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.script import Script
from tests.cli.scripted import HONEST_LINES, submit, use, with_executor, work, write_script
from tests.conftest import Cli, Ran, commit_all, git

CANARY = "quiet-canary-of-the-project"
CERTIFICATE = "a-certificate-that-tests-need"
STATS = HONEST_LINES["executor"][0]["replies"]
NEEDS = f"grep -q {CERTIFICATE} tls/server.pem && python3 -m unittest -q"
LOOKING = [
    use("shell", command="cat .env tls/server.pem; grep -r canary . ; find . -name '*.pem' -o -name '.env'"),
    use("read_file", path=".env"),
    use("search", pattern="canary"),
]


@pytest.fixture
def secretive(sample: Path) -> Path:
    """The sample project with a tracked .env and a certificate that its check needs."""
    (sample / ".env").write_text(f"TOKEN={CANARY}\n")
    (sample / "tls").mkdir()
    (sample / "tls" / "server.pem").write_text(f"{CERTIFICATE}\n")
    about = sample / "harness" / "environment.json"
    about.write_text(about.read_text().replace("python3 -m unittest -q", NEEDS))
    commit_all(sample, "add secrets")
    return sample


def sent(cli: Cli, repo: Path, lines: Any) -> tuple[Ran, str]:
    """A whole run with a model on loopback, and everything that was sent to it."""
    with LoopbackModel(Script(lines)) as model:
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "scripted"}
        ran = cli("run", REQUEST, "--repo", repo, "--model", "anthropic:scripted", "--json", env=env)
    return ran, b"\n".join(model.bodies).decode()


def looking() -> dict[str, Any]:
    """Planner, verifier and executor all look for the secrets before they work."""
    return {
        role: [{**talk, "replies": [*LOOKING, *talk["replies"], *[work()] * 4]} for talk in talks]
        for role, talks in HONEST.lines.items()
    }


def recordings(repo: Path, task_id: str) -> str:
    """Every recorded call of a task."""
    return "".join(path.read_text() for path in (repo / "harness" / "tasks" / task_id / "calls").glob("*"))


def test_a57_a_tracked_secret_reaches_no_prompt(secretive: Path, cli: Cli) -> None:
    """Nobody who looks finds it, though checks and servers have it; the commit keeps it as it was."""
    ran, prompts = sent(cli, secretive, looking())
    outcome = ran.json()
    assert ran.code == 0, ran.err
    assert "kept back from models, as they look like secrets: .env, tls/server.pem" in ran.err
    assert "Kept back from you, as they may hold secrets: .env, tls/server.pem." in prompts
    assert CANARY not in prompts + recordings(secretive, outcome["task_id"])
    assert git(secretive, "show", f"{outcome['branch']}:.env") == f"TOKEN={CANARY}"
    assert git(secretive, "diff", "--name-only", "HEAD", outcome["branch"]).split() == [
        "app.py",
        "test_app.py",
    ]


def test_a57_the_same_run_would_tell_it_if_the_user_allowed_that(secretive: Path, cli: Cli) -> None:
    """With the path allowed in the user's own file, the secret is in the prompts: the test can see it."""
    config_home().mkdir(parents=True)
    (config_home() / "config.toml").write_text('[secrets]\nallow = [".env"]\n')
    ran, prompts = sent(cli, secretive, looking())
    assert ran.code == 0, ran.err
    assert CANARY in prompts
    assert CERTIFICATE not in prompts.replace(NEEDS, "").replace(json.dumps(NEEDS)[1:-1], "")


def test_a_project_cannot_allow_its_secrets_to_be_shown(secretive: Path, cli: Cli) -> None:
    """The table in the project's own file has no effect."""
    (secretive / "harness" / "config.toml").write_text('[secrets]\nallow = [".env"]\n')
    commit_all(secretive, "allow")
    ran, prompts = sent(cli, secretive, looking())
    assert ran.code == 0, ran.err
    assert "secrets in the project's config.toml is ignored" in ran.err
    assert CANARY not in prompts


def test_a57_what_a_check_says_of_a_secret_is_not_fed_back(secretive: Path, cli: Cli) -> None:
    """A test that prints the file makes the check red; the executor hears of it without the secret."""
    spy = "import pathlib\nassert False, pathlib.Path('.env').read_text()\n"
    first = [use("write_file", path="test_spy.py", content=spy), *[work()] * 4]
    lines = with_executor(
        {
            "when": "passes on base and fails on your change",
            "replies": [submit({"status": "failed", "summary": "x"})],
        },
        {"replies": first},
    )
    _, prompts = sent(cli, secretive, lines)
    assert "AssertionError: TOKEN=[redacted]" in prompts or "AssertionError: [redacted]" in prompts
    assert CANARY not in prompts


def test_a_secret_that_the_model_writes_waits_for_a_person(secretive: Path, tmp_path: Path, cli: Cli) -> None:
    """A file in the place of one that was kept back, or a new one, is not taken without a person."""
    writes = [use("write_file", path=path, content="TOKEN=mine\n") for path in (".env", "new.key")]
    lines = with_executor({"replies": [*writes, *STATS, *[work()] * 4]})
    ran = cli("run", REQUEST, "--repo", secretive, "--model", write_script(tmp_path, lines), "--json")
    assert ran.code == 3, ran.err
    assert [(file["path"], file["created"]) for file in ran.json()["control_files"]] == [
        (".env", False),
        ("new.key", True),
    ]
