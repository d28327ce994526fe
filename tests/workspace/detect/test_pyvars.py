"""Variables that Python code reads."""

from pathlib import Path
from textwrap import dedent

import pytest

from harness_executor.workspace.detect.pysource import parse_source
from harness_executor.workspace.detect.pyvars import sample, settings_classes, variables
from tests.workspace.detect.trees import found


def read(code: str) -> dict[str, bool]:
    """The variables of some code, and whether each is required."""
    source = parse_source("a.py", dedent(code))
    assert source is not None
    return {one.name: one.required for one in variables(source, settings_classes((source,)))}


def test_a_read_without_a_default_is_required() -> None:
    """`os.environ[...]` must be there; `get` and `getenv` need not."""
    code = """
        import os
        from os import environ
        a = os.environ["NEEDED"]
        b = os.environ.get("MAYBE", "x")
        c = os.getenv("PERHAPS")
        os.environ["SET_HERE"] = "1"
        request.environ["HTTP_AUTHORIZATION"]
    """
    assert read(code) == {"NEEDED": True, "MAYBE": False, "PERHAPS": False}
    assert read("from os import environ\nd = environ['TOO']") == {"TOO": True}


def test_what_is_looked_for_first_is_not_required() -> None:
    """`if "NAME" in os.environ` does without; what is insisted on otherwise does not."""
    code = """
        import os
        if "A" in os.environ:
            a = os.environ["A"]
        b = os.environ["B"] if os.getenv("B") else "none"
        if not os.environ.get("C"):
            raise SystemExit("no C")
        c = os.environ["C"]
    """
    source = parse_source("a.py", dedent(code))
    assert source is not None
    assert {one.name for one in variables(source) if one.required} == {"C"}


def test_fields_of_settings_are_variables() -> None:
    """Those of pydantic, with prefix, aliases and classes between."""
    code = """
        from pydantic import Field
        from pydantic_settings import BaseSettings, SettingsConfigDict
        class Base(BaseSettings):
            model_config = SettingsConfigDict(env_prefix="APP_")
            debug: bool = False
            secret: str
        class Own(Base):
            url: str = Field(..., alias="DATABASE_URL")
            size: int = Field(3)
        class Plain:
            other: str
    """
    assert read(code) == {"APP_DEBUG": False, "APP_SECRET": True, "DATABASE_URL": True, "SIZE": False}


def test_readers_of_other_packages_are_known() -> None:
    """decouple and environs ask strictly unless a default is given."""
    code = """
        from decouple import config
        from environs import Env
        env = Env()
        A = config("A")
        B = config("B", default=1)
        C = env.str("C")
        D = env("D", default="x")
    """
    assert read(code) == {"A": True, "B": False, "C": True, "D": False}


def test_the_type_of_a_setting_says_what_it_takes() -> None:
    """Lists are JSON, choices are one of them; plain texts are left to the name of the variable."""
    assert sample("list[AnyHttpUrl]", "ORIGINS") == '["http://127.0.0.1:9"]'
    assert sample("List[int]", "ids") == "[1]"
    assert sample("Optional[tuple[str, ...]]", "names") == '["test-only"]'
    assert sample("Literal['dev', 'prod']", "env") == "dev"
    assert sample("dict[str, str]", "labels") == "{}"
    assert sample("EmailStr | None", "admin") == "test@example.com"
    assert sample("SecretStr", "key") == sample("str", "name") == ""


@pytest.mark.parametrize(
    ("read", "value"),
    [
        ("int(os.environ['A_B'])", "1"),
        ("int(os.environ.get('A_B'))", "1"),
        ("float(os.getenv('A_B'))", "1.0"),
        ("config('A_B', cast=int)", "1"),
        ("config('A_B', cast=bool)", "false"),
        ("env.int('A_B')", "1"),
        ("env.bool('A_B')", "false"),
        ("os.environ['A_B']", "test-only"),
    ],
)
def test_a_variable_gets_a_value_of_its_type(tmp_path: Path, read: str, value: str) -> None:
    """Whether the code makes a number of it, or has a reader do so."""
    code = f"import os, environ\nfrom decouple import config\nenv = environ.Env()\nx = {read}\n"
    seen = found(tmp_path, {"requirements.txt": "", "a.py": code})
    assert [one.test_value for one in seen.stacks[0].variables] == [value]
