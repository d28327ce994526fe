CREATE TABLE transfer (
    id serial PRIMARY KEY,
    sender integer NOT NULL REFERENCES account (id),
    receiver integer NOT NULL REFERENCES account (id),
    amount integer NOT NULL CHECK (amount > 0),
    made_at timestamptz NOT NULL DEFAULT now()
);
