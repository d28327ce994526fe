import os
from collections.abc import Iterator
from typing import Annotated

import psycopg
from fastapi import Depends, FastAPI, HTTPException
from psycopg.rows import dict_row
from pydantic import BaseModel, Field

app = FastAPI(title="Ledger")


def database() -> Iterator[psycopg.Connection]:
    with psycopg.connect(os.environ["DATABASE_URL"], row_factory=dict_row) as connection:
        yield connection


Database = Annotated[psycopg.Connection, Depends(database)]


class NewAccount(BaseModel):
    owner: str = Field(min_length=1)
    balance: int = Field(default=0, ge=0)


@app.get("/health")
def health(db: Database) -> dict[str, str]:
    db.execute("SELECT count(*) FROM account")
    return {"status": "ok"}


@app.post("/accounts", status_code=201)
def open_account(account: NewAccount, db: Database) -> dict:
    return db.execute(
        "INSERT INTO account (owner, balance) VALUES (%s, %s) RETURNING id, owner, balance",
        (account.owner, account.balance),
    ).fetchone()


@app.get("/accounts/{account_id}")
def read_account(account_id: int, db: Database) -> dict:
    row = db.execute("SELECT id, owner, balance FROM account WHERE id = %s", (account_id,)).fetchone()
    if row is None:
        raise HTTPException(404, detail="no such account")
    return row
