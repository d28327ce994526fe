CREATE TABLE account (
    id serial PRIMARY KEY,
    owner text NOT NULL,
    balance integer NOT NULL DEFAULT 0 CHECK (balance >= 0)
);
