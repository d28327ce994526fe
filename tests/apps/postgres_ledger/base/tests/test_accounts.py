"""These tests need the database that DATABASE_URL leads to, with every migration applied."""

import os

import psycopg
from fastapi.testclient import TestClient

from ledger.main import app

client = TestClient(app)


def test_an_account_is_kept_in_the_database():
    made = client.post("/accounts", json={"owner": "ada", "balance": 12})
    assert made.status_code == 201
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        row = connection.execute("SELECT owner, balance FROM account WHERE id = %s", (made.json()["id"],)).fetchone()
    assert row == ("ada", 12)


def test_an_account_has_an_owner():
    assert client.post("/accounts", json={"owner": ""}).status_code == 422


def test_an_unknown_account_is_missing():
    assert client.get("/accounts/0").status_code == 404
