"""Services that a project talks to."""

from pathlib import Path

from harness_executor.workspace.detect.environment import Choice, environment
from harness_executor.workspace.detect.values import Service
from tests.workspace.detect.trees import found

COMPOSE = """
services:
  db:
    image: postgres:16
    environment: {POSTGRES_DB: shop}
  cache:
    image: docker.io/library/redis:7
"""
APP = "import os\nfrom fastapi import FastAPI\napp = FastAPI()\nURL = os.environ['DATABASE_URL']\n"


def services(root: Path, files: dict[str, str]) -> dict[str, Service]:
    """The services of the main program, by type."""
    seen = found(root, files)
    assert seen.main is not None
    return {service.type: service for service in seen.services(seen.main)}


def test_packages_and_compose_files_give_them_away(tmp_path: Path) -> None:
    """What is among the dependencies is needed; what only the compose file has is not."""
    files = {"requirements.txt": "fastapi\nuvicorn\npsycopg[binary]\n", "app.py": APP, "compose.yml": COMPOSE}
    seen = services(tmp_path, files)
    assert (seen["postgresql"].name, seen["postgresql"].required) == ("db", True)
    assert seen["postgresql"].connection["url_env"] == "DATABASE_URL"
    assert str(seen["postgresql"].connection["default_url"]).endswith("/shop")
    assert seen["redis"].required is False


def test_services_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Two compose files may each call theirs the same, and what they call it may be no name."""
    more = {
        "docker-compose.yml": "services:\n  db: {image: 'postgres:16'}\n  _x: {image: 'redis:7'}\n",
        "docker-compose.dev.yml": "services:\n  db: {image: 'mysql:8'}\n  5: {image: 'memcached'}\n",
    }
    seen = services(
        tmp_path, {"requirements.txt": "fastapi\npsycopg2\npymysql\nredis\n", "app.py": APP, **more}
    )
    names = {type_: service.name for type_, service in seen.items()}
    assert names == {"postgresql": "db", "mysql": "mysql", "redis": "redis", "memcached": "5"}


def test_no_variable_is_told_of_two_services(tmp_path: Path) -> None:
    """What the example says decides which one an address leads to; the other has its own."""
    example = "DATABASE_URL=mongodb://db/shop\nSQL_DATABASE_URL=postgres://u:p@db/shop\n"
    code = APP + "SQL = os.environ['SQL_DATABASE_URL']\n"
    files = {
        "requirements.txt": "fastapi\nuvicorn\npsycopg2\npymongo\n",
        "app.py": code,
        ".env.example": example,
    }
    seen = services(tmp_path / "a", files)
    assert seen["mongodb"].connection["url_env"] == "DATABASE_URL"
    assert seen["postgresql"].connection["url_env"] == "SQL_DATABASE_URL"
    silent = services(tmp_path / "b", {**files, ".env.example": ""})
    assert silent["postgresql"].connection["url_env"] == "DATABASE_URL"
    assert silent["mongodb"].connection.get("url_env") != "DATABASE_URL"


def test_several_addresses_of_one_kind_lead_to_the_same_service(tmp_path: Path) -> None:
    """The plainest name is told by the service, and the others are filled in with its address."""
    example = (
        "DATABASE_URL=postgres://u:p@db/a\nREPORTS_DATABASE_URL=postgres://u:p@db/b\nREDIS_URL=redis://c/0\n"
    )
    code = (
        APP
        + "URLS = os.environ['REPORTS_DATABASE_URL'], os.environ['REDIS_URL'], os.environ.get('CACHE_URL')\n"
    )
    listed = "fastapi\nuvicorn\npsycopg2\nredis\n"
    files = {"requirements.txt": listed, "app.py": code, ".env.example": example + "CACHE_URL=redis://c/1\n"}
    seen = found(tmp_path, files)
    assert seen.main is not None
    told = {one.type: (one.connection["url_env"], one.more) for one in seen.services(seen.main)}
    assert told["postgresql"] == ("DATABASE_URL", ("REPORTS_DATABASE_URL",))
    assert told["redis"] == ("CACHE_URL", ("REDIS_URL",))
    required = environment(seen, Choice(seen.candidates[0]))["env_vars"]["required"]
    assert required["REPORTS_DATABASE_URL"]["test_value"] == "{service.postgresql.url}"
    assert required["REDIS_URL"]["test_value"] == "{service.redis.url}"


def test_a_program_that_falls_back_on_a_file_does_without(tmp_path: Path) -> None:
    """SQLite as the default makes PostgreSQL optional, unless the example names PostgreSQL."""
    code = APP.replace("os.environ['DATABASE_URL']", "os.environ.get('DATABASE_URL', 'sqlite:///app.db')")
    files = {"requirements.txt": "fastapi\nuvicorn\npsycopg2", "app.py": code}
    assert services(tmp_path / "a", files)["postgresql"].required is False
    example = {".env.example": "DATABASE_URL=postgresql+asyncpg://u:p@db/it\n"}
    assert services(tmp_path / "b", {**files, **example})["postgresql"].required is True


def test_parts_of_an_address_are_found_by_their_variables(tmp_path: Path) -> None:
    """Host, port, user, password and database each have a name of their own."""
    files = {
        "package.json": '{"name": "x", "main": "i.js", "dependencies": {"mysql2": "3", "express": "5"}}',
        "i.js": "require('express')().listen(process.env.PORT)",
        ".env.example": "DB_HOST=db\nDB_PORT=3306\nDB_USER=u\nDB_PASSWORD=p\nDB_NAME=n\n",
    }
    told = services(tmp_path, files)["mysql"].connection
    parts = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD", "database": "NAME"}
    assert {part: told[f"{part}_env"] for part in parts} == {part: f"DB_{end}" for part, end in parts.items()}


def test_an_address_that_the_code_insists_on_is_served_as_it_is(tmp_path: Path) -> None:
    """User, password and database of this machine are kept; those of another machine are not."""
    files = {
        "requirements.txt": "flask\npsycopg2\n",
        "app.py": "from flask import Flask\napp = Flask(__name__)\n",
        "config.py": 'NAME = "shop"\nURI = f"postgresql://postgres:123456@localhost:5432/{NAME}"\n',
    }
    seen = services(tmp_path / "here", files)["postgresql"]
    assert seen.connection["default_url"] == "postgresql://postgres:123456@127.0.0.1:5432/shop"
    away = {**files, "config.py": 'URI = "postgresql://ann:real@db.example.com:5432/shop"\n'}
    seen = services(tmp_path / "away", away)["postgresql"]
    assert seen.connection["default_url"] == "postgresql://app:app@127.0.0.1:5432/shop"


def test_variables_of_nested_settings_are_known(tmp_path: Path) -> None:
    """Two lines below stand between the group and the part."""
    example = (
        "DATABASE__HOSTNAME=localhost\nDATABASE__USERNAME=ann\nDATABASE__DB=shop\nDATABASE__PASSWORD=pw\n"
    )
    files = {"requirements.txt": "fastapi\nuvicorn\nasyncpg\n", "app.py": APP.partition("URL")[0]}
    seen = services(tmp_path, {**files, ".env.example": example})["postgresql"].connection
    assert (seen["host_env"], seen["user_env"]) == ("DATABASE__HOSTNAME", "DATABASE__USERNAME")
    assert (seen["database_env"], seen["password_env"]) == ("DATABASE__DB", "DATABASE__PASSWORD")


def test_a_redis_behind_a_plugin_is_found(tmp_path: Path) -> None:
    """Packages that bring a client along give the service away too."""
    for plugin in ("@hapi/catbox-redis", "@adonisjs/redis"):
        files = {
            "package.json": f'{{"name": "x", "dependencies": {{"@hapi/hapi": "21", "{plugin}": "7"}}}}',
            "i.js": "server.listen(3000)",
        }
        assert services(tmp_path / plugin, files)["redis"].required is True


def test_a_password_that_the_code_wants_for_redis_is_the_one_of_the_example(tmp_path: Path) -> None:
    """A password that an example file sets is given to Redis, if the code reads it; else it has none."""
    files = {
        "package.json": '{"name": "x", "dependencies": {"ioredis": "5", "express": "5"}}',
        "i.js": "require('express')().listen(1); c(need('REDIS_USERNAME'), need('REDIS_PASSWORD'));",
        ".env.example": "REDIS_HOST=localhost\nREDIS_USERNAME=default\nREDIS_PASSWORD=open it\n",
    }
    told = services(tmp_path / "a", files)["redis"].connection
    assert told["password_env"] == "REDIS_PASSWORD"
    assert told["default_url"] == "redis://default:open%20it@127.0.0.1:6379/0"
    files["i.js"] = "require('express')().listen(1); c(need('REDIS_HOST'));"
    assert services(tmp_path / "b", files)["redis"].connection["default_url"] == "redis://127.0.0.1:6379/0"


def test_a_password_that_redis_may_lack_is_not_set(tmp_path: Path) -> None:
    """The variable of a password stays unset where the code does without, and is told where it must be."""
    files = {
        "package.json": '{"name": "x", "dependencies": {"redis": "3", "express": "5"}}',
        "i.js": "require('express')().listen(1); c(process.env.REDIS_URL, process.env.REDIS_PASSWORD);",
    }
    told = services(tmp_path / "a", files)["redis"].connection
    assert (told["url_env"], "password_env" in told) == ("REDIS_URL", False)
    strict = {**files, "i.js": files["i.js"].replace("REDIS_PASSWORD", "REDIS_PASSWORD!")}
    assert services(tmp_path / "b", strict)["redis"].connection["password_env"] == "REDIS_PASSWORD"


def test_an_example_that_leads_to_a_service_needs_it(tmp_path: Path) -> None:
    """A client that is a part of another package is known by the address that developers are given."""
    files = {
        "requirements.txt": "fastapi\nuvicorn\nquart-db\n",
        "app.py": "from fastapi import FastAPI\napp = FastAPI()\n",
        "development.env": "SHOP_DATABASE_URL=postgresql://shop:shop@0.0.0.0:5432/shop\nSITE=http://localhost\n",
    }
    seen = services(tmp_path, files)
    assert list(seen) == ["postgresql"]
    assert (seen["postgresql"].required, seen["postgresql"].connection["url_env"]) == (
        True,
        "SHOP_DATABASE_URL",
    )
    assert seen["postgresql"].reasons == ("SHOP_DATABASE_URL of an example file leads to it",)


def test_what_an_address_leaves_out_is_told_to_the_client(tmp_path: Path) -> None:
    """Without a variable of the project, clients of PostgreSQL get user and password from their own."""
    code = "from fastapi import FastAPI\napp = FastAPI()\nURL = 'postgresql://' + 'localhost/app'\n"
    files = {"requirements.txt": "fastapi\nuvicorn\npsycopg2\n", "app.py": code}
    told = services(tmp_path / "a", files)["postgresql"].connection
    assert (told["user_env"], told["password_env"]) == ("PGUSER", "PGPASSWORD")
    told = services(tmp_path / "b", {**files, "app.py": APP})["postgresql"].connection
    assert "user_env" not in told
