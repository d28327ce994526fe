"""Variables that programs miss."""

import pytest

from harness_executor.evidence.unset import unset_in

PYDANTIC = """pydantic_core._pydantic_core.ValidationError: 2 validation errors for Settings
PROJECT_NAME
  Field required [type=missing, input_value={}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2/v/missing
first_admin
  Field required [type=missing, input_value={}, input_type=dict]"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (PYDANTIC, ("PROJECT_NAME", "FIRST_ADMIN")),
        (PYDANTIC.replace("Settings", "Item"), ()),
        ("  File \"os.py\"\nKeyError: 'APP_SETTINGS'", ("APP_SETTINGS",)),
        ("KeyError: 'title'", ()),
        ("decouple.UndefinedValueError: secret not found. Declare it as envvar.", ("secret",)),
        ('environs.EnvError: Environment variable "DEBUG" not set', ("DEBUG",)),
        ("ImproperlyConfigured: Set the DJANGO_KEY environment variable", ("DJANGO_KEY",)),
        ("RuntimeError: no settings", ()),
    ],
)
def test_variables_without_a_value_are_named(text: str, names: tuple[str, ...]) -> None:
    """As Python, pydantic, decouple, environs and Django say it; other keys and fields are not meant."""
    assert unset_in(text) == names
