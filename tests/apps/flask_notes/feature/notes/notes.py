from flask import Blueprint, jsonify, request

from .db import get_db

bp = Blueprint("notes", __name__, url_prefix="/api/notes")


def _note(row):
    return {"id": row["id"], "title": row["title"], "body": row["body"], "created": row["created"]}


@bp.get("")
def index():
    rows = get_db().execute("SELECT * FROM note ORDER BY id").fetchall()
    return jsonify([_note(row) for row in rows])


@bp.get("/search")
def search():
    words = request.args.get("q", "").strip()
    if not words:
        return jsonify(error="q is required"), 400
    like = f"%{words}%"
    rows = get_db().execute("SELECT * FROM note WHERE title LIKE ? OR body LIKE ? ORDER BY id", (like, like))
    found = [_note(row) for row in rows]
    return jsonify({"query": words, "count": len(found), "notes": found})


@bp.post("")
def create():
    data = request.get_json(silent=True) or {}
    title = str(data.get("title", "")).strip()
    if not title:
        return jsonify(error="title is required"), 400
    db = get_db()
    cursor = db.execute("INSERT INTO note (title, body) VALUES (?, ?)", (title, data.get("body", "")))
    db.commit()
    return jsonify(_find(cursor.lastrowid)), 201


@bp.get("/<int:note_id>")
def show(note_id):
    note = _find(note_id)
    return (jsonify(note), 200) if note else (jsonify(error="no such note"), 404)


@bp.delete("/<int:note_id>")
def delete(note_id):
    db = get_db()
    gone = db.execute("DELETE FROM note WHERE id = ?", (note_id,)).rowcount
    db.commit()
    return ("", 204) if gone else (jsonify(error="no such note"), 404)


def _find(note_id):
    row = get_db().execute("SELECT * FROM note WHERE id = ?", (note_id,)).fetchone()
    return _note(row) if row else None
