"""Tokens that nobody told us of: what another program finds is taken out, and nothing else is."""

import base64
import hashlib
import json
import re
import uuid
from random import Random
from time import process_time

import pytest
from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.redaction import CREDENTIALS, MARK, TOKENS, Redactor, Shape

MANY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0"
HEX = hashlib.sha256(b"hex").hexdigest()
JWT = ".".join(
    base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
    for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": "1234567890", "name": "A"}, {"signature": 12345})
)
BODY = f"{MANY}\n" * 4
PUTTY = (
    "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: k\nPublic-Lines: 1\n"
    f"{MANY}\nPrivate-Lines: 2\n{MANY}\nAAAA\nPrivate-MAC: {HEX[:40]}"
)

FOUND: tuple[tuple[type[RegexBasedDetector], str, str], ...] = (
    (ArtifactoryDetector, "key={}", f"AKCp{MANY[:69]}"),
    (AWSKeyDetector, "id {}", f"AKIA{HEX[:16].upper()}"),
    (AWSKeyDetector, "id {}", f"A3TX{HEX[:16].upper()}"),
    (AWSKeyDetector, 'aws_secret_access_key = "{}"', MANY[:40]),
    (AzureStorageKeyDetector, "AccountName=n;AccountKey={}", f"{(MANY + HEX)[:86]}=="),
    (BasicAuthDetector, "https://someone:{}@example.com/path", "pa55-word"),
    (CloudantDetector, "https://account:{}@account.cloudant.com", HEX),
    (DiscordBotTokenDetector, "bot {}", f"MTk4{MANY[:20]}.Cl2FMQ.{MANY[:27]}"),
    (GitHubTokenDetector, "token {}", f"ghp_{MANY[:36]}"),
    (GitHubTokenDetector, "token {}", f"ghs_{MANY[:36]}"),
    *(
        (GitLabTokenDetector, "token {}", f"gl{kind}-{MANY[:20]}")
        for kind in ("pat", "dt", "ft", "soat", "rt")
    ),
    (GitLabTokenDetector, "token {}", f"GR1348941{MANY[:20]}"),
    (GitLabTokenDetector, "token {}", f"glcbt-64_{MANY[:20]}"),
    (GitLabTokenDetector, "token {}", f"glimt-{MANY[:25]}"),
    (GitLabTokenDetector, "token {}", f"glptt-{MANY[:40]}"),
    (GitLabTokenDetector, "token {}", f"glagent-{MANY[:50]}"),
    (GitLabTokenDetector, "token {}", f"gloas-{MANY[:64]}"),
    (JwtTokenDetector, "jwt={}", JWT),
    (MailchimpDetector, "key {}", f"{HEX[:32]}-us12"),
    (NpmDetector, "//registry.npmjs.org/:_authToken={}", f"npm_{MANY[:36]}"),
    (NpmDetector, "//registry.npmjs.org/:_authToken={}", str(uuid.UUID(HEX[:32]))),
    (OpenAIDetector, "key {}", f"sk-{MANY[:20]}T3BlbkFJ{MANY[:20]}"),
    (OpenAIDetector, "key {}", f"sk-proj-{MANY[:74]}T3BlbkFJ{MANY[:20]}"),
    *(
        (PrivateKeyDetector, "{}", f"-----BEGIN {kind}-----\n{BODY}-----END {kind}-----")
        for kind in (
            *(f"{name}PRIVATE KEY" for name in ("", "DSA ", "EC ", "OPENSSH ", "RSA ")),
            "PGP PRIVATE KEY BLOCK",
        )
    ),
    (
        PrivateKeyDetector,
        "{}",
        f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{BODY}---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    ),
    (PrivateKeyDetector, "{}", PUTTY),
    (PypiTokenDetector, "token {}", f"pypi-AgEIcHlwaS5vcmc{MANY}"),
    (PypiTokenDetector, "token {}", f"pypi-AgENdGVzdC5weXBpLm9yZw{MANY}"),
    (SendGridDetector, "key {}", f"SG.{MANY[:22]}.{MANY[:43]}"),
    (SlackDetector, "token {}", f"xoxb-123456789012-{MANY[:24]}"),
    (SlackDetector, "https://hooks.slack.com/services/{}", f"T{MANY[:8]}/B{MANY[:8]}/{MANY[:24]}"),
    (SoftlayerDetector, "https://api.softlayer.com/soap/v3/{}", HEX),
    (SquareOAuthDetector, "secret {}", f"sq0csp-{MANY[:43]}"),
    (StripeDetector, "key {}", f"sk_live_{MANY[:24]}"),
    (StripeDetector, "key {}", f"rk_live_{MANY[:24]}"),
    (TelegramBotTokenDetector, "https://api.telegram.org/bot{}/getMe", f"123456789:AA{MANY[:33]}"),
    (TwilioKeyDetector, "sid {}", f"AC{HEX[:32]}"),
    (TwilioKeyDetector, "sid {}", f"SK{HEX[:32]}"),
)
"""Who finds it, what stands around it, and the secret."""


@pytest.mark.parametrize(
    ("finder", "around", "secret"), FOUND, ids=lambda value: getattr(value, "__name__", str(value)[:24])
)
def test_a56_what_detect_secrets_finds_is_taken_out(
    finder: type[RegexBasedDetector], around: str, secret: str
) -> None:
    """Each example is found by the other program, and all of it is taken out by ours, and nothing else."""
    text = around.format(secret)
    assert any(list(finder().analyze_string(line)) for line in text.splitlines())
    redactor = Redactor()
    assert redactor.clean(text) == around.format(MARK)
    assert redactor.count == 1
    assert redactor.clean(around.format(MARK)) == around.format(MARK)
    assert redactor.clean(json.dumps(f"first line\n{text}")) == json.dumps(
        f"first line\n{around.format(MARK)}"
    )


@pytest.mark.parametrize(
    "secret",
    [
        f"GOCSPX-{MANY[:28]}",
        f"ya29.{MANY[:40]}",
        f"xapp-1-{MANY[:20]}",
        f"dop_v1_{HEX}",
        f"dapi{HEX[:32]}",
        f"dckr_pat_{MANY[:27]}",
        f"gsk_{MANY[:52]}",
        f"HRKU-{MANY[:40]}",
        "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
        f"npm_{MANY[:36]}",
        f"shpat_{HEX[:32]}",
        f"whsec_{MANY[:32]}",
        f"hvs.{MANY[:40]}",
        f"AGE-SECRET-KEY-1{MANY[:58].upper()}",
        f"sk-ant-api03-{MANY}",
        f"github_pat_{MANY[:60]}",
        f"AIza{MANY[:35]}",
    ],
    ids=lambda secret: secret[:8],
)
@pytest.mark.parametrize("around", ["{}", "TOKEN={}", '"{}"', "?t={}&x", "a%3D{}", r"line\n{}\n"])
def test_a56_tokens_the_other_program_does_not_know_are_taken_out(around: str, secret: str) -> None:
    """What services hand out is known by its beginning, wherever it stands."""
    assert Redactor().clean(around.format(secret)) == around.format(MARK)
    assert Redactor().clean_work(around.format(secret)) == around.format(MARK)


def test_a56_what_tests_make_up_stays_in_work() -> None:
    """Bearer tokens, web tokens and passwords in addresses are taken out of what is said, not out of work."""
    text = f"Authorization: Bearer test-token-1234567890, {JWT}, postgres://app:app@localhost/db"
    assert Redactor().clean_work(text) == text
    assert (
        Redactor().clean(text) == f"Authorization: Bearer {MARK}, {MARK}, postgres://app:{MARK}@localhost/db"
    )
    assert Redactor().clean("Basic dXNlcjpwYXNzd29yZA==") == f"Basic {MARK}"
    assert Redactor().clean("'Authorization': 'Basic dXNlcjpwYXNz'") == f"'Authorization': 'Basic {MARK}'"
    for words in ("Basic authentication", "Basic authentication is not offered", "basic Assumptions made"):
        assert Redactor().clean(words) == words


@settings(max_examples=400, deadline=None, database=None, derandomize=True)
@given(st.binary(min_size=1, max_size=400))
def test_a56_codes_and_digests_are_not_touched(raw: bytes) -> None:
    """Random base64, digests, commits and ids stay as they are, whatever is in them."""
    for text in (
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        base64.encodebytes(raw).decode(),
        raw.hex(),
        hashlib.sha1(raw).hexdigest(),  # noqa: S324 - what a commit is named by
        hashlib.sha256(raw).hexdigest(),
        f"sha512-{base64.b64encode(hashlib.sha512(raw).digest()).decode()}",
        str(uuid.UUID(bytes=hashlib.md5(raw).digest())),  # noqa: S324 - any sixteen bytes
        f"key={uuid.UUID(bytes=hashlib.md5(raw).digest())}",  # noqa: S324 - any sixteen bytes
    ):
        assert Redactor(["a-known-secret-value"]).clean(f"see {text} there") == f"see {text} there"


def test_a56_a_hundred_thousand_random_words_are_not_touched() -> None:
    """Two megabytes of random words in many alphabets hold no token."""
    random = Random(56)
    alphabets = ("0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", MANY + "-_", MANY + "+/")
    words = ["".join(random.choices(random.choice(alphabets), k=20)) for _ in range(100_000)]
    text = " ".join(words)
    redactor = Redactor()
    assert redactor.clean(text) == text
    assert redactor.count == 0


def test_a56_a_value_that_was_cut_is_taken_out() -> None:
    """The half that is left where a text was cut is a secret too; a word that it begins with is none."""
    secret = "correct-horse-battery-staple"
    redactor = Redactor([secret])
    assert redactor.clean(f"{secret[8:]} is the key") == f"{MARK} is the key"
    assert redactor.clean(f"the key is {secret[:-8]}") == f"the key is {MARK}"
    assert redactor.clean("staple") == "staple"
    assert redactor.clean("it is correct-horse") == "it is correct-horse"


def test_a56_sightings_say_where_and_what_without_the_value() -> None:
    """Known values in any coding and tokens are found with their lines; made-up tokens are not."""
    secret = "correct-horse-battery-staple"
    coded = base64.b64encode(secret.encode()).decode()
    lines = ["x = 1", f"a = '{secret}'", "", f"b = '{coded}'", f"c = 'ghp_{MANY[:36]}'", f"'{coded[:20]}'"]
    made_up = [f"d = 'ghp_example{MANY[:30]}'", "e = 'sk-ant-" + "x" * 40 + "'", f"sk_test_{MANY[:24]}"]
    found = Redactor([secret]).sightings("\n".join([*lines, *made_up, PUTTY]))
    assert found == {2: "a secret of yours", 4: "a secret of yours", 5: "a GitHub token", 10: "a private key"}
    wrapped = f"one\ntwo\n{coded[:10]}\n{coded[10:]}\n"
    assert Redactor([secret]).sightings(wrapped) == {3: "a secret of yours"}


MEGA = 1_000_000
BOUND = 1_000
"""How many times longer than looking for one word a shape may take; a slow one takes a million times."""


def _repeated(part: str, size: int = MEGA) -> str:
    return part * (size // len(part))


def _seconds(run: object, text: str) -> float:
    began = process_time()
    run(text)  # type: ignore[operator]  # a function of a text
    return process_time() - began


def _ratio(pattern: re.Pattern[str], text: str) -> float:
    """How much longer the pattern takes than looking for a word that is almost there."""
    plain = min(_seconds(lambda text: text[1:4] * 2 + "\0" in text, text) for _ in range(3))
    return _seconds(lambda text: pattern.sub("", text), text) / max(plain, 2e-4)


def _attacks(shape: Shape) -> list[str]:
    """Texts that begin like the secret at every place, with everything a class of characters may hold."""
    begun = [shape.hints[0], re.sub(r"[\\^$?*+{}()\[\]|]", "", shape.kept + shape.secret)[:20]]
    fillers = ["", "a", "-", "_", "a1", "A1/", ".", " ", ":", "=", "@", "-eyJ", r"\n", "%3D"]
    return [_repeated(f"{word}{filler}") for word in begun for filler in fillers] + [
        f"{word}{_repeated('a')}" for word in begun
    ]


@pytest.mark.parametrize(
    "shape", [*TOKENS, *CREDENTIALS], ids=lambda shape: f"{shape.what}, {shape.hints[0]}".replace(" ", "-")
)
def test_a87_every_shape_is_linear(shape: Shape) -> None:
    """A megabyte made to be slow for a shape takes no longer than some hundred searches for a word."""
    assert max(_ratio(shape.pattern, text) for text in _attacks(shape)) < BOUND


def test_a87_a_shape_that_is_not_linear_would_be_noticed() -> None:
    """The same measurement of a shape that looks again from every place fails with far less text."""
    careless = re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]+\.e")
    few = _repeated("-eyJ", MEGA // 8)
    assert _ratio(careless, few) > BOUND
