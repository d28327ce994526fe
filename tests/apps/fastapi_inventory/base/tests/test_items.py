from fastapi.testclient import TestClient

from app.main import app

client = TestClient(app)


def test_create_item():
    answer = client.post("/items", json={"sku": "t-1", "name": "tea", "quantity": 3, "price": 2.5})
    assert answer.status_code == 201
    assert answer.json()["name"] == "tea"


def test_negative_quantity_is_refused():
    answer = client.post("/items", json={"sku": "t-2", "name": "tea", "quantity": -3, "price": 2.5})
    assert answer.status_code == 422
