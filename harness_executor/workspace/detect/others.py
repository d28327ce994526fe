"""Programs in other languages: what they are, and the usual commands of each."""

import re
from collections.abc import Iterator

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.unit import Unit, is_decoy
from harness_executor.workspace.detect.values import Candidate, Commands, Place, Port, Route, Stack

_GO_PORT = re.compile(r"(?:ListenAndServe|\.Run|\.Start|\.Listen)\s*\(\s*\"[\w.]*:(\d{2,5})\"")
_GO_READ = re.compile(r"os\.Getenv\(\s*\"(\w*PORT\w*)\"\s*\)")
_GO_ROUTE = re.compile(r"\.(HandleFunc|Handle|GET|Get|POST|Post)\s*\(\s*\"(?:GET )?(/[^\"\s]{0,80})\"")


@frozen
class Language:
    """A language that is known by its manifest."""

    manifest: str
    name: str
    manager: str
    commands: Commands


LANGUAGES = (
    Language(
        "go.mod", "go", "go", Commands("go mod download", "go build ./...", "go test ./...", "go vet ./...")
    ),
    Language("Cargo.toml", "rust", "cargo", Commands("cargo fetch", "cargo build", "cargo test")),
    Language(
        "pom.xml",
        "java",
        "maven",
        Commands("mvn -q dependency:go-offline", "mvn -q package -DskipTests", "mvn -q test"),
    ),
    Language("build.gradle", "java", "gradle", Commands("", "./gradlew build -x test", "./gradlew test")),
    Language(
        "build.gradle.kts", "kotlin", "gradle", Commands("", "./gradlew build -x test", "./gradlew test")
    ),
    Language("Gemfile", "ruby", "bundler", Commands("bundle install", "", "bundle exec rake test")),
    Language("composer.json", "php", "composer", Commands("composer install", "", "vendor/bin/phpunit")),
    Language("mix.exs", "elixir", "mix", Commands("mix deps.get", "mix compile", "mix test")),
)


def look(unit: Unit, wanted: str = ".") -> Stack | None:
    """What a unit is, if it has the manifest of one of these languages."""
    language = next((one for one in LANGUAGES if unit.has(one.manifest)), None)
    if language is None:
        return None
    texts = {
        name: unit.files.text(name)
        for name in unit.names
        if name.endswith(".go") and not is_decoy(name, wanted)
    }
    return Stack(
        unit.folder,
        language.name,
        language.manager,
        commands=language.commands,
        framework="net/http" if any("net/http" in text for text in texts.values()) else "",
        candidates=tuple(_go(unit, texts)),
        routes=tuple(_routes(texts)),
    )


def _go(unit: Unit, texts: dict[str, str]) -> Iterator[Candidate]:
    everything = "\n".join(texts.values())
    if not re.search(r"net/http|gin-gonic|labstack/echo|gofiber|go-chi", everything):
        return
    read, fixed = _GO_READ.search(everything), _GO_PORT.search(everything)
    port = Port(Place.FIXED, int(fixed[1])) if fixed else Port()
    port = Port(Place.ENVIRONMENT, port.number, read[1]) if read else port
    env = {read[1]: "{port}"} if read else {}
    for name, text in texts.items():
        if "package main" in text and "func main()" in text:
            folder = unit.inner(name).rpartition("/")[0]
            score = (
                76 - 2 * name.count("/")
                if re.search(r"ListenAndServe|\.Run\(|\.Start\(|\.Listen\(", text)
                else 62
            )
            yield Candidate(
                f"go run ./{folder}".rstrip("/"),
                score,
                (f"{name} is a program",),
                unit.folder,
                "net/http",
                env,
                port,
                source=name,
            )


def _routes(texts: dict[str, str]) -> Iterator[Route]:
    for name, text in texts.items():
        for match in _GO_ROUTE.finditer(text):
            yield Route(
                "GET" if match[1] in ("GET", "Get", "Handle", "HandleFunc") else "POST", match[2], name
            )
