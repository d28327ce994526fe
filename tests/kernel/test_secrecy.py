"""Which files look like secrets by their name?"""

import pytest

from harness_executor.kernel.control import control_files
from harness_executor.kernel.secrecy import PUBLIC, SECRET, is_secret

HIDDEN = (
    *(
        ".env",
        "sub/.env",
        ".env.local",
        ".env.production",
        "tls/server.pem",
        "a.key",
        "id_rsa",
        "id_rsa_work",
    ),
    *(
        ".ssh/config",
        "home/.aws/credentials",
        "id_ed25519",
        "x.p12",
        "x.PFX",
        "store.jks",
        ".netrc",
        ".pgpass",
    ),
    *("credentials.json", "service-account-prod.json", "v.kdbx", ".htpasswd", "terraform.tfstate"),
    *("infra/prod.tfstate", ".ENV", ".env.", ".e\u200bnv", "\uff0eenv"),
)
SHOWN = (
    *(".env.example", ".env.sample", ".env.template", ".env.dist", ".env.local.example", "id_rsa.pub"),
    *(
        "env.py",
        "environment.py",
        "keys.py",
        "key",
        "pem.txt",
        "credentials.py",
        "tokens.json",
        ".envrc",
        ".npmrc",
    ),
    *("docs/ssh/config", ".env/bin/python", ""),
)


@pytest.mark.parametrize("path", HIDDEN)
def test_a57_what_usually_holds_secrets_is_kept_back(path: str) -> None:
    """Files of these names are kept back, and touching one is a matter for a person."""
    assert is_secret(path)
    assert control_files((), (path,))
    assert control_files((path,), ())


@pytest.mark.parametrize("path", SHOWN)
def test_what_is_there_to_be_read_is_shown(path: str) -> None:
    """Examples, public keys and code about secrets are shown."""
    assert not is_secret(path)


@pytest.mark.parametrize(
    ("path", "allowed", "hidden"),
    [
        ("tests/certs/a.pem", "tests/certs/*.pem", False),
        ("tests/certs/a.pem", "/tests/certs/*.pem", False),
        ("tests/certs/a.pem", "tests/certs/", False),
        ("tests/certs/deep/a.pem", "tests/certs/*.pem", True),
        ("other/tests/certs/a.pem", "tests/certs/*.pem", True),
        ("tests/certs/A.PEM", "tests/certs/*.pem", True),
        ("tests/certs/a.key", "tests/certs/*.pem", True),
        (".env", "*.pem", True),
        ("a/.env", ".env", True),
    ],
)
def test_the_user_allows_paths_and_no_more_than_these(path: str, allowed: str, hidden: bool) -> None:
    """A pattern is for the path as it is written, part by part, from the root."""
    assert is_secret(path, (allowed,)) is hidden


def test_every_pattern_is_written_as_names_are_compared() -> None:
    """A pattern with a capital letter would never fit."""
    names = [*SECRET, *PUBLIC]
    assert names == [name.casefold() for name in names]
