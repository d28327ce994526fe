import json
import os
from functools import wraps
from pathlib import Path

from flask import Flask, abort, flash, redirect, render_template, request, send_from_directory, session, url_for
from werkzeug.utils import secure_filename

app = Flask(__name__)
app.secret_key = os.environ["SECRET_KEY"]
app.config["UPLOAD_FOLDER"] = Path(os.environ.get("UPLOAD_FOLDER", "uploads"))
app.config["MAX_CONTENT_LENGTH"] = 1_000_000

USERS = json.loads(Path(app.root_path, "users.json").read_text())
entries = []
PICTURES = {".gif", ".jpg", ".png"}


def login_required(view):
    @wraps(view)
    def wrapped(*args, **kwargs):
        if "user" not in session:
            return redirect(url_for("login", next=request.path))
        return view(*args, **kwargs)

    return wrapped


@app.route("/")
@login_required
def index():
    return render_template("index.html", entries=entries)


@app.route("/login", methods=["GET", "POST"])
def login():
    if request.method == "POST":
        name = request.form.get("username", "")
        if name and USERS.get(name) == request.form.get("password"):
            session["user"] = name
            return redirect(url_for("index"))
        flash("Wrong name or password.")
        return render_template("login.html"), 401
    return render_template("login.html")


@app.post("/logout")
def logout():
    session.clear()
    return redirect(url_for("login"))


@app.post("/entries")
@login_required
def write():
    text = request.form.get("text", "").strip()
    if not text:
        abort(400, "Write something first.")
    entries.append({"author": session["user"], "text": text, "picture": _keep(request.files.get("picture"))})
    return redirect(url_for("index"))


@app.get("/pictures/<name>")
@login_required
def picture(name):
    return send_from_directory(app.config["UPLOAD_FOLDER"].absolute(), name)


def _keep(file):
    if file is None or not file.filename:
        return None
    name = secure_filename(file.filename)
    if Path(name).suffix.lower() not in PICTURES:
        abort(415, "Only pictures can be added.")
    app.config["UPLOAD_FOLDER"].mkdir(parents=True, exist_ok=True)
    file.save(app.config["UPLOAD_FOLDER"] / name)
    return name
