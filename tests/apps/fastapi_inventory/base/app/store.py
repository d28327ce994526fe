from itertools import count

from app.models import Item, ItemIn


class Store:
    """Items in memory, by their number."""

    def __init__(self) -> None:
        self._items: dict[int, Item] = {}
        self._ids = count(1)

    def add(self, item: ItemIn) -> Item:
        made = Item(id=next(self._ids), **item.model_dump())
        self._items[made.id] = made
        return made

    def get(self, item_id: int) -> Item | None:
        return self._items.get(item_id)

    def all(self) -> list[Item]:
        return list(self._items.values())


store = Store()
