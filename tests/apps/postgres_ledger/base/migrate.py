"""Apply the SQL files in migrations/ that the database has not seen yet."""

import os
from pathlib import Path

import psycopg

MIGRATIONS = Path(__file__).parent / "migrations"


def main() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY)")
        seen = {row[0] for row in connection.execute("SELECT name FROM schema_migrations")}
        for path in sorted(MIGRATIONS.glob("*.sql")):
            if path.name not in seen:
                connection.execute(path.read_text())
                connection.execute("INSERT INTO schema_migrations VALUES (%s)", (path.name,))
                print(f"applied {path.name}")


if __name__ == "__main__":
    main()
