def test_create_and_show(client):
    made = client.post("/api/notes", json={"title": "milk"}).get_json()
    assert client.get(f"/api/notes/{made['id']}").get_json()["title"] == "milk"


def test_a_title_is_needed(client):
    assert client.post("/api/notes", json={}).status_code == 400
