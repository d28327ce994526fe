import random

from flask import Flask, jsonify

app = Flask(__name__)


@app.route("/")
def home():
    return "<h1>Dice</h1>"


@app.route("/roll/<int:sides>")
def roll(sides):
    if sides < 2:
        return jsonify(error="a die has two sides or more"), 400
    return jsonify(sides=sides, result=random.randint(1, sides))


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=5005)
