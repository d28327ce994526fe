from fastapi import APIRouter, HTTPException

from app.models import Item, ItemIn, Movement
from app.store import store

router = APIRouter(prefix="/items", tags=["items"])


@router.get("")
def list_items() -> list[Item]:
    return store.all()


@router.post("", status_code=201)
def create_item(item: ItemIn) -> Item:
    if any(known.sku == item.sku for known in store.all()):
        raise HTTPException(409, detail="sku already exists")
    return store.add(item)


@router.get("/{item_id}")
def read_item(item_id: int) -> Item:
    item = store.get(item_id)
    if item is None:
        raise HTTPException(404, detail="item not found")
    return item


@router.post("/{item_id}/movements")
def move_item(item_id: int, movement: Movement) -> Item:
    item = read_item(item_id)
    if item.quantity + movement.change < 0:
        raise HTTPException(409, detail="not enough in stock")
    item.quantity += movement.change
    return item
