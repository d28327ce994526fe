from fastapi import FastAPI

from app.routers import items

app = FastAPI(title="Inventory", version="1.0.0")
app.include_router(items.router)


@app.get("/health", tags=["meta"])
def health() -> dict[str, str]:
    return {"status": "ok"}
