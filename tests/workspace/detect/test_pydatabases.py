"""Addresses of databases that are written into Python code."""

from textwrap import dedent

from harness_executor.workspace.detect.pydatabases import addresses
from harness_executor.workspace.detect.pysource import parse_source


def read(code: str) -> list[str]:
    """The addresses in some code."""
    source = parse_source("a.py", dedent(code))
    assert source is not None
    return list(addresses(source))


def test_a_text_is_an_address_when_it_says_everything() -> None:
    """One without a user, or of another kind, is passed over."""
    assert read('URL = "postgresql+asyncpg://ann:pw@localhost:5433/shop"') == [
        "postgresql+asyncpg://ann:pw@localhost:5433/shop"
    ]
    assert read('URL = "sqlite:///x.db"\nOTHER = "postgresql://localhost/shop"') == []


def test_a_text_is_put_together_from_what_the_file_says() -> None:
    """Names, names of the class, and variables by their defaults; what is not known makes no address."""
    code = """
        import os
        USER = "ann"
        class Config:
            HOST = os.getenv("DB_HOST", "localhost")
            PORT = 5432
            URI = f"postgresql://{USER}:{os.environ.get('DB_PASSWORD') or 'pw'}@{HOST}:{PORT}/" + "shop"
        NOT = f"postgresql://{USER}:{secret()}@localhost/shop"
    """
    assert read(code) == ["postgresql://ann:pw@localhost:5432/shop"]


def test_settings_of_django_are_addresses() -> None:
    """The engine says of which kind; files need none."""
    code = """
        DATABASES = {"default": {
            "ENGINE": "django.db.backends.postgresql", "NAME": "shop", "USER": "ann",
            "PASSWORD": "p@w", "HOST": "localhost", "PORT": "5432"}}
        OTHER = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
    """
    assert read(code) == ["postgresql://ann:p%40w@localhost:5432/shop"]


def test_calls_that_connect_are_addresses() -> None:
    """Of drivers, of SQLAlchemy, and the keys of Flask-MySQLdb."""
    code = """
        import psycopg2, mysql.connector
        from sqlalchemy import URL
        psycopg2.connect(host="localhost", user="ann", password="pw", dbname="shop")
        psycopg2.connect("dbname=shop user=bob password=pw host=localhost")
        mysql.connector.connect(host="127.0.0.1", user="root", passwd="pw", database="shop")
        URL.create("x", host="y")
        URL.create(drivername="mysql+pymysql", username="ann", password="pw", database="shop")
        socket.connect(user="no", database="no")
    """
    assert read(code) == [
        "postgresql://ann:pw@localhost/shop",
        "postgresql://bob:pw@localhost/shop",
        "mysql://root:pw@127.0.0.1/shop",
        "mysql+pymysql://ann:pw@localhost/shop",
    ]
    keys = "config['MYSQL_USER'] = 'root'\nconfig['MYSQL_DB'] = 'shop'\nconfig['MYSQL_PASSWORD'] = ''"
    assert read(keys) == ["mysql://root@localhost/shop"]
