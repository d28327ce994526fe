"""Values that are safe in a test."""

from pathlib import Path

from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Variable
from harness_executor.workspace.detect.variables import is_sensitive, merged
from tests.workspace.detect.trees import grow


def complete(root: Path, files: dict[str, str], *read: Variable) -> dict[str, Variable]:
    """The variables of a program with these files, which reads these."""
    unit = Unit(Files(grow(root, files)), ".")
    return {variable.name: variable for variable in merged(unit, read)}


def test_examples_that_are_shipped_are_used(tmp_path: Path) -> None:
    """What .env.example sets is set; what nobody may know is made up; the machine's own is left out."""
    example = "GREETING=hi # there\nSECRET_KEY=your-secret\nexport LIMIT='5'\nEMPTY=\nPORT=1\n"
    read = (Variable("EMPTY"), Variable("HOME"), Variable("NEEDED", required=True))
    found = complete(tmp_path, {".env.example": example}, *read)
    required = {name for name, one in found.items() if one.required}
    assert required == {"GREETING", "SECRET_KEY", "LIMIT", "NEEDED"}
    assert (found["GREETING"].test_value, found["LIMIT"].test_value) == ("hi", "5")
    assert found["SECRET_KEY"].test_value.startswith("test-only-")
    assert not {"HOME", "PORT"} & set(found)


def test_of_several_examples_the_one_that_is_copied_is_meant(tmp_path: Path) -> None:
    """Each stands for another database; the first that a page copies to .env wins."""
    page = "1. Copy it:\n   cp env-example-sql .env\n2. Or `cp env-example-file .env`.\n"
    files = {"env-example-file": "DB_TYPE=mongodb\n", "env-example-sql": "DB_TYPE=postgres\n"}
    assert complete(tmp_path, files)["DB_TYPE"].test_value == "mongodb"
    assert complete(tmp_path, {**files, "docs/install.md": page})["DB_TYPE"].test_value == "postgres"


def test_a_file_of_variables_in_the_tree_speaks_for_itself(tmp_path: Path) -> None:
    """What a committed .env sets is not set again."""
    files = {".env": "A=1\n", "main.py": "import dotenv\ndotenv.load_dotenv()\n"}
    assert not complete(tmp_path, files, Variable("A", required=True))["A"].required


def test_what_a_project_starts_its_program_with_is_given(tmp_path: Path) -> None:
    """Where only its compose file does, by `environment` or a `.env` that no code reads."""
    compose = """
        services:
          web:
            build: .
            environment:
              ["SETTINGS=app.config.Dev", "ISSUER=${ISSUER:-me}", "FIRST_ADMIN=${FIRST_ADMIN?}",
               "SEARCH=http://search:1", "DB=db"]
          db:
            image: postgres
            environment: {OTHER: "1"}
        """
    names = ("SETTINGS", "ISSUER", "SEARCH", "DB", "OTHER", "FIRST_ADMIN", "LEVEL")
    read = (*map(Variable, names[:-1]), Variable("LEVEL", default="low"))
    files = {"docker-compose.yml": compose, ".env": "FIRST_ADMIN=ann\nLEVEL=high\n"}
    found = complete(tmp_path, files, *read)
    given = {name: one.test_value for name, one in found.items() if one.required}
    assert given == {"SETTINGS": "app.config.Dev", "ISSUER": "me", "FIRST_ADMIN": "ann"}


def test_a_file_of_variables_above_a_program_is_not_left_to_it(tmp_path: Path) -> None:
    """A server that is started below it does not find it; what refers to other values stays as it is."""
    files = {
        ".env": "NAME=Shop\nURL=http://${DOMAIN}\n",
        "api/pyproject.toml": "[project]\nname = 'api'\n",
        "api/main.py": "model_config = SettingsConfigDict(env_file='.env')\n",
    }
    unit = Unit(Files(grow(tmp_path, files)), "api")
    read = (Variable("NAME", required=True), Variable("URL", required=True))
    found = {one.name: (one.required, one.test_value) for one in merged(unit, read)}
    assert found["NAME"] == (True, "Shop")
    assert not found["URL"][0]


def test_what_signs_needs_a_value(tmp_path: Path) -> None:
    """A secret that is read without a default gets one, though the code would start without."""
    found = complete(tmp_path, {}, Variable("JWT_SECRET"), Variable("LOG_LEVEL"))
    assert {name: one.required for name, one in found.items()} == {"JWT_SECRET": True, "LOG_LEVEL": False}


def test_values_look_like_the_real_ones(tmp_path: Path) -> None:
    """An address, a host, a database in a file."""
    names = (
        "SERVICE_URL",
        "DATABASE_URL",
        "DB_HOST",
        "ADMIN_EMAIL",
        "MONGODB_URI",
        "JWT_ALGORITHM",
        "LOG_LEVEL",
    )
    found = complete(tmp_path, {}, *(Variable(name, required=True) for name in names))
    values = {name: one.test_value for name, one in found.items()}
    assert values["DATABASE_URL"].startswith("sqlite://")
    assert (values["DB_HOST"], values["ADMIN_EMAIL"]) == ("127.0.0.1", "test@example.com")
    assert (values["JWT_ALGORITHM"], values["LOG_LEVEL"]) == ("HS256", "INFO")
    spoken = Variable("LOG_LEVEL", required=True, where="src/log.ts")
    assert complete(tmp_path, {}, spoken)["LOG_LEVEL"].test_value == "info"
    assert values["SERVICE_URL"].startswith("http://127.0.0.1")
    assert not values["MONGODB_URI"].startswith("sqlite")
    assert is_sensitive("STRIPE_API_KEY")
    assert not is_sensitive("KEYBOARD")


def test_keys_are_as_long_as_programs_want_them(tmp_path: Path) -> None:
    """What seals sessions wants many characters, and what encrypts exactly 32; a key of a service any."""
    names = ("APP_KEY", "COOKIE_KEY", "DATA_ENCRYPTION_KEY", "MAIL_API_KEY")
    found = complete(tmp_path, {}, *(Variable(name, required=True) for name in names))
    assert {name: len(one.test_value) for name, one in found.items()} == {
        "APP_KEY": 42,
        "COOKIE_KEY": 42,
        "DATA_ENCRYPTION_KEY": 32,
        "MAIL_API_KEY": 9,
    }


def test_files_of_data_far_away_are_brought_home(tmp_path: Path) -> None:
    """What would be written where a program may not write is written in the project; system files stay."""
    read = (
        Variable("SQLITE_DB_LOCATION", default="/etc/todos/todo.db"),
        Variable("DATA_DIR", default="/var/lib/app"),
        Variable("CA_FILE", default="/etc/ssl/cert.pem"),
        Variable("API_PATH", default="/api"),
    )
    found = complete(tmp_path, {".env.example": "LOG_FILE=/var/log/app/out.log\n"}, *read)
    values = {name: one.test_value for name, one in found.items() if one.required}
    assert values == {"SQLITE_DB_LOCATION": "./todo.db", "DATA_DIR": "./app", "LOG_FILE": "./out.log"}


def test_addresses_of_files_far_away_are_brought_home_too(tmp_path: Path) -> None:
    """A file of SQLite in a volume of a container is kept in the project, however its address is written."""
    lines = "A_URL=sqlite:////data/db.sqlite\nB_URL=sqlite+aiosqlite:////var/lib/app/b\nC_URL=sqlite:////tmp/c.db\n"
    found = complete(tmp_path, {".env.example": lines})
    assert {name: one.test_value for name, one in found.items()} == {
        "A_URL": "sqlite:///./db.sqlite",
        "B_URL": "sqlite+aiosqlite:///./b",
        "C_URL": "sqlite:////tmp/c.db",
    }


def test_a_user_is_not_a_switch(tmp_path: Path) -> None:
    """What ends in USER is no switch, though USE is in it."""
    found = complete(tmp_path, {}, Variable("DOC_USER", required=True), Variable("USE_CACHE", required=True))
    assert {name: one.test_value for name, one in found.items()} == {
        "DOC_USER": "test-only",
        "USE_CACHE": "false",
    }


def test_quoted_values_may_be_followed_by_a_comment(tmp_path: Path) -> None:
    """What stands behind a closing quote or a blank and a hash is no part of a value."""
    example = "A=\"1 # 2\" # one\nB='3'  # two\nC=4 # three\nD= # none\n"
    found = complete(tmp_path, {".env.example": example})
    values = {name: one.test_value for name, one in found.items() if one.required}
    assert values == {"A": "1 # 2", "B": "3", "C": "4"}


def test_where_a_program_asks_for_its_host_and_mode_it_gets_them(tmp_path: Path) -> None:
    """HOST and NODE_ENV are left alone unless an example sets them or a schema requires them."""
    read = (Variable("HOST"), Variable("NODE_ENV", required=True, test_value="dev"))
    assert {name: one.test_value for name, one in complete(tmp_path, {}, *read).items()} == {
        "NODE_ENV": "dev"
    }
    found = complete(tmp_path, {".env.example": "HOST=localhost\nNODE_ENV=production\n"})
    assert (found["HOST"].test_value, found["NODE_ENV"].test_value) == ("127.0.0.1", "development")


def test_files_of_variables_have_many_names(tmp_path: Path) -> None:
    """Those for developers are read, under any name; those of production and other files are not."""
    files = {
        "web-variables.env": "A=1\n",
        ".env.docker": "B=2\n",
        ".example.env": "G=7\n",
        ".envs/.local/.django": "C=3\n",
        ".env.production": "D=4\n",
        "env.d.ts": "E=5\n",
        "env_config.py": "F=6\n",
    }
    assert set(complete(tmp_path, files)) == {"A", "B", "C", "G"}
