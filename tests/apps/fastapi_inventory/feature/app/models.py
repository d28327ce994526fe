from pydantic import BaseModel, Field


class ItemIn(BaseModel):
    sku: str = Field(min_length=1, max_length=32)
    name: str
    quantity: int = Field(ge=0)
    price: float = Field(gt=0)


class Item(ItemIn):
    id: int


class Movement(BaseModel):
    change: int = Field(description="positive when goods come in, negative when they go out")
