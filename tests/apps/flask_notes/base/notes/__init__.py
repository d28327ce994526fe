import os

from flask import Flask, jsonify


def create_app(test_config=None):
    app = Flask(__name__, instance_relative_config=True)
    app.config.from_mapping(
        SECRET_KEY=os.environ.get("SECRET_KEY", "dev"),
        DATABASE=os.environ.get("DATABASE") or os.path.join(app.instance_path, "notes.sqlite3"),
    )
    if test_config:
        app.config.update(test_config)
    os.makedirs(app.instance_path, exist_ok=True)

    from . import db, notes

    db.init_app(app)
    app.register_blueprint(notes.bp)

    @app.get("/healthz")
    def healthz():
        db.get_db().execute("SELECT 1")
        return jsonify(status="ok")

    @app.errorhandler(404)
    def not_found(error):
        return jsonify(error="not found"), 404

    return app
