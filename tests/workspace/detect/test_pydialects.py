"""What SQLAlchemy has to be told of a driver."""

from pathlib import Path

import pytest

from tests.workspace.detect.trees import found

APP = "from flask import Flask\nimport os\napp = Flask(__name__)\nURL = os.environ['DATABASE_URL']\n"
BUILT = "DEFAULT = f'postgresql+psycopg://{user}:{secret}@{host}/shop'\n"


@pytest.mark.parametrize(
    ("listed", "code", "scheme"),
    [
        ("sqlalchemy\npsycopg", "", "postgresql+psycopg"),
        ("flask-sqlalchemy\npsycopg2-binary", "", "postgresql"),
        ("flask-sqlalchemy\npsycopg2-binary\npsycopg", BUILT, "postgresql+psycopg"),
        ("sqlalchemy\nasyncpg\npsycopg2", "", "postgresql"),
        ("sqlalchemy\nasyncpg", "", "postgresql+asyncpg"),
        ("sqlalchemy\nasyncpg", "import asyncpg\n", "postgresql"),
        ("psycopg", "", "postgresql"),
        ("sqlmodel\npymysql", "", "mysql+pymysql"),
        ("sqlalchemy\nmysqlclient\npymysql", "", "mysql"),
    ],
)
def test_the_driver_is_named_that_is_installed(tmp_path: Path, listed: str, code: str, scheme: str) -> None:
    """By the code, or as the only one that is listed; not to programs that use it without SQLAlchemy."""
    seen = found(tmp_path, {"requirements.txt": f"flask\n{listed}\n", "app.py": APP + code})
    assert seen.main is not None
    kind = scheme.partition("+")[0]
    service = next(one for one in seen.services(seen.main) if one.type == kind)
    assert str(service.connection["default_url"]).partition("://")[0] == scheme
