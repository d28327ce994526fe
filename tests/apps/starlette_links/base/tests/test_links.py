from starlette.testclient import TestClient

from links.app import app

client = TestClient(app, follow_redirects=False)


def test_follow():
    client.post("/links", json={"url": "https://example.com/a", "code": "a"})
    assert client.get("/a").headers["location"] == "https://example.com/a"


def test_unknown():
    assert client.get("/nothing").status_code == 404
