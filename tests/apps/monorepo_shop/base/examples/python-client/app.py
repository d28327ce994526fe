"""Calls the API; also a tiny Flask page that shows the products."""
import json
import urllib.request

from flask import Flask

app = Flask(__name__)


@app.get("/")
def products():
    with urllib.request.urlopen("http://127.0.0.1:4100/v1/products") as answer:
        return json.load(answer)


if __name__ == "__main__":
    app.run(port=5000)
