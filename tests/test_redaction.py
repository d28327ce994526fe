"""Texts without secrets: known values in every usual coding, and tokens known by their shape."""

import base64
import json
import re
import subprocess
import sys
from collections.abc import Callable
from time import process_time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.redaction import MARK, Redactor

CANARY = 'canary/7f3e+"é" 9a=b~tail'
MEGA = 5_000_000

PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + ("MIIEow" * 10 + "\n") * 20 + "-----END RSA PRIVATE KEY-----"

CODINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 for addresses": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "base64 after one byte": lambda value: base64.b64encode(b"x" + value.encode()).decode(),
    "base64 after two bytes": lambda value: base64.b64encode(b"xy" + value.encode() + b"z").decode(),
    "base64 inside": lambda value: base64.b64encode(f'{{"key": "{value}"}}'.encode()).decode(),
    "base64 over lines": lambda value: base64.encodebytes(f"{'pad' * 15}{value}".encode()).decode(),
    "base64 over lines, as JSON": lambda value: json.dumps(base64.encodebytes((value * 3).encode()).decode()),
    "hex": lambda value: value.encode().hex(),
    "HEX": lambda value: value.encode().hex().upper(),
    "hex over lines": lambda value: "\n".join(
        value.encode().hex()[at : at + 8] for at in range(0, len(value.encode().hex()), 8)
    ),
    "URL": lambda value: quote(value, safe=""),
    "URL path": quote,
    "URL form": quote_plus,
    "url": lambda value: re.sub("%..", lambda found: found[0].lower(), quote(value, safe="")),
    "every byte of a URL": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "JSON": json.dumps,
    "JSON with letters": lambda value: json.dumps(value, ensure_ascii=False),
}

ROUND = {"base64 inside": 20, "base64 over lines": 64, "base64 over lines, as JSON": 16}
"""How many letters a coding has that do not come from the secret alone; 6 when it is not here."""


@pytest.mark.parametrize("coding", CODINGS)
def test_a_known_value_is_taken_out_however_it_is_coded(coding: str) -> None:
    """No coding of a secret gets through, and what stands around it stays."""
    coded = CODINGS[coding](CANARY)
    redactor = Redactor([CANARY])
    cleaned = redactor.clean(f"before {coded} after")
    assert MARK in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    assert redactor.count >= 1
    assert len(cleaned.replace(MARK, "")) - len("before  after") <= ROUND.get(coding, 6)
    assert Redactor().clean(f"before {coded} after") == f"before {coded} after"


def test_base64_of_a_text_around_the_secret_hides_the_secret() -> None:
    """What is left of a base64 text decodes to nothing of the secret."""
    secret = "correct-horse-battery-staple"
    for before in range(4):
        for after in range(4):
            coded = base64.b64encode(b"{" * before + secret.encode() + b"}" * after).decode()
            left = Redactor([secret]).clean(coded).split(MARK)
            assert len(left) == 2
            assert all(len(part) <= 8 for part in left)


@pytest.mark.parametrize(
    "token",
    [
        "sk-ant-api03-" + "Ab1_" * 20,
        "sk-ant-" + "x" * 40,
        "sk-proj-" + "a1B2c3D4" * 5,
        "sk-or-v1-" + "0123456789abcdef" * 4,
        "ghp_" + "a1B2c3" * 6,
        "gho_" + "a1B2c3" * 6,
        "github_pat_" + "11ABCDEFG0_" * 4,
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefABCDEF",
        "AIza" + "Sy0123456789abcdefghijABCDEFGHIJ_-x",
        PEM,
        PEM.replace("RSA ", ""),
        PEM.replace("\n", "\\n"),
        PEM.replace("MIIEow", "Proc-Type: 4,ENCRYPTED\nMIIEow", 1),
    ],
    ids=lambda token: token[:20],
)
@pytest.mark.parametrize("around", ["{}", "key={};", '"{}"', "a {} b", "https://x/?k={}&y", "\n{}\n"])
def test_a_token_is_known_by_its_shape(token: str, around: str) -> None:
    """A token nobody told us of is taken out, and nothing else is."""
    redactor = Redactor()
    assert redactor.clean(around.format(token)) == around.format(MARK)
    assert redactor.count == 1


@pytest.mark.parametrize(
    "header", ["Authorization: Bearer {}", '"authorization": "bearer {}"', "-H BEARER\t{}"]
)
def test_a_bearer_token_is_taken_out(header: str) -> None:
    """The token of a header goes, the header stays."""
    assert Redactor().clean(header.format("eyJhbGciOi.J9-x_12/34+56==")) == header.format(MARK)


def test_a_private_key_that_was_cut_off_is_taken_out() -> None:
    """Half a key is still a secret; the text after its last line is not."""
    half = PEM[:500]
    assert Redactor().clean(f"see {half}\n(cut) more text") == f"see {MARK}\n(cut) more text"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "task-runner-with-a-very-long-name-and-2-digits",
        "the sk-learn-like-package-without-any-digits-at-all",
        "ghp_short",
        "AKIA is a prefix",
        "AKIAIOSFODNN7EXAMPLEX",
        "bearer of good news from the 21st century",
        "a bearer authentication-middleware-class",
        "-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----",
        "GET /todos/stats 200 {'count': 3}",
        MARK,
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    """What only looks a little like a token is kept."""
    redactor = Redactor(["some-secret-value"])
    assert redactor.clean(text) == text
    assert redactor.count == 0


@pytest.mark.parametrize("value", ["", "short", "1234567", "       x", "redacted", "[redacted]"])
def test_short_values_are_no_secrets(value: str) -> None:
    """A value too short to be a secret, or our own mark, changes nothing."""
    text = "a short text 1234567 [redacted] x"
    assert Redactor([value]).clean(text) == text


def test_a_value_is_found_without_the_blanks_around_it() -> None:
    """A key that was read with its line end is found without."""
    assert Redactor(["hunter2-hunter2\n"]).clean("key hunter2-hunter2.") == f"key {MARK}."


def test_the_longer_of_two_secrets_goes_first() -> None:
    """A secret that begins another one does not leave the rest of it."""
    redactor = Redactor(["secret-key", "secret-key-with-more"])
    assert redactor.clean("secret-key-with-more, secret-key") == f"{MARK}, {MARK}"
    assert redactor.count == 2


def test_data_keeps_its_shape() -> None:
    """Texts in lists and objects, and names, are cleaned; everything else is as it was."""
    data = {"a": ["hunter2-hunter2", 1, None, True, 1.5], "hunter2-hunter2": {"b": ("hunter2-hunter2",)}}
    redactor = Redactor(["hunter2-hunter2"])
    assert redactor.clean_data(data) == {"a": [MARK, 1, None, True, 1.5], MARK: {"b": (MARK,)}}
    assert redactor.count == 3
    assert data["a"][0] == "hunter2-hunter2"  # type: ignore[index]  # the data is a mixture


@pytest.mark.parametrize(
    "text",
    [
        "sk-" * (MEGA // 3),
        "sk-ant-" * (MEGA // 7),
        "sk-a" * (MEGA // 4),
        "bearer " * (MEGA // 7),
        "Bearer a" * (MEGA // 8),
        "Bearer " + "a" * MEGA,
        "-----BEGIN PRIVATE KEY-----" * (MEGA // 27),
        "-----BEGIN PRIVATE KEY-----\\n" * (MEGA // 29) + "-----END PRIVATE KEY-----" * 9,
        "-----BEGIN " + "A " * (MEGA // 2),
        "-----BEGIN PRIVATE KEY-----" + "\n" * MEGA,
        "ghp_" * (MEGA // 4),
        "github_pat_" * (MEGA // 11),
        "AKIA" * (MEGA // 4),
        "xoxb-" * (MEGA // 5),
        "AIza" * (MEGA // 4),
        "c \n" * (MEGA // 3) + "63616e6172792d6b\n6579",
        "63\n" * (MEGA // 3),
        "a" * MEGA,
        "\\n" * (MEGA // 2),
    ],
    ids=lambda text: repr(text[:28]),
)
def test_no_text_takes_long(text: str) -> None:
    """Five megabytes made to be slow take seconds of processor time at the most, not hours."""
    redactor = Redactor(["canary-key", "c" * 40])
    began = process_time()
    redactor.clean(text)
    assert process_time() - began < 20


@settings(max_examples=300, deadline=None, database=None)
@given(
    st.text(min_size=8, max_size=40).filter(lambda value: len(value.strip()) >= 8),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_no_value_survives(value: str, before: str, after: str) -> None:
    """Whatever the secret and the text around it, the secret is gone and cleaning again changes nothing."""
    secret = value.strip()
    redactor = Redactor([secret])
    cleaned = redactor.clean(f"{before}{secret}{after}")
    assert secret not in cleaned.replace(MARK, "\0") or secret in MARK
    assert redactor.clean(cleaned) == cleaned or MARK[1:] in secret or secret in cleaned


def test_a_canary_in_the_environment_does_not_reach_a_cleaned_log() -> None:
    """What a program prints of its environment is clean, in every coding."""
    code = (
        "import base64, os, urllib.parse as u; k = os.environ['CANARY_KEY']; b = k.encode();"
        "print(k, b.hex(), u.quote(k, safe=''), base64.b64encode(b).decode(), repr(os.environ))"
    )
    secret = "c4nary/" + "x1y2z3" * 8
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={"CANARY_KEY": secret},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert secret in printed
    cleaned = Redactor([secret]).clean(printed)
    assert all(CODINGS[coding](secret) not in cleaned for coding in CODINGS)
    assert cleaned.count(MARK) == 5


def test_what_only_looks_like_a_secret_can_be_left_alone() -> None:
    """Work on code that holds tokens of its own is not changed by the way; known secrets always go."""
    redactor = Redactor(["a-known-secret-value"])
    text = (
        'Authorization: Bearer test-token-1234567890, key="sk-ant-0123456789abcdefghij", a-known-secret-value'
    )
    assert redactor.clean_known(text) == text.replace("a-known-secret-value", MARK)
    assert redactor.clean_data([text], redactor.clean_known) == [redactor.clean_known(text)]
    assert redactor.clean(text).count(MARK) == 3


@pytest.mark.parametrize(
    ("password", "text", "clean"),
    [
        ("hunt3r", "connecting as me with hunt3r\n", f"connecting as me with {MARK}\n"),
        ("hunt3r", "postgresql://me:hunt3r@db/x", f"postgresql://me:{MARK}@db/x"),
        ("hunt3r", '{"password": "hunt3r", "hunt3rs": 1}', f'{{"password": "{MARK}", "hunt3rs": 1}}'),
        ("p@ss", "redis://:p%40ss@db and p@ss", f"redis://:{MARK}@db and {MARK}"),
        ("test", "test is green, PGPASSWORD=test was set", f"test is green, PGPASSWORD={MARK} was set"),
        (
            "a",
            "a word with password: a, and redis://me:a@db",
            f"a word with password: {MARK}, and redis://me:{MARK}@db",
        ),
    ],
)
def test_a_short_password_goes_as_a_word_of_its_own(password: str, text: str, clean: str) -> None:
    """A word of ours or a letter goes only where it stands as a password; parts of words stay."""
    assert Redactor((), [password]).clean_output(text) == clean


def test_a_text_that_is_nothing_but_a_short_password_may_be_a_name_of_ours() -> None:
    """What a program said is cleaned all the same, also within data."""
    redactor = Redactor((), ["hunt3r", "longer-than-that"])
    assert (redactor.clean("hunt3r"), redactor.clean_output("hunt3r")) == ("hunt3r", MARK)
    data = {"name": "hunt3r", "answer": {"body": "hunt3r", "headers": [["x", "hunt3r"]]}}
    cleaned = {"name": "hunt3r", "answer": {"body": MARK, "headers": [["x", MARK]]}}
    assert redactor.clean_data(data) == cleaned
    assert redactor.clean("the longer-than-that one") == f"the {MARK} one"
