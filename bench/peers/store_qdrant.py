"""Qdrant's client in its local mode, without a server: SQLite, and numpy over every vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams
from serve import K, Vectors, folder_bytes, serve


class Qdrant:
    def __init__(self, _variant: str, folder: Path) -> None:
        self.folder = folder
        self.client = QdrantClient(path=str(folder))

    def build(self, vectors: Vectors, texts: Sequence[str]) -> None:
        shape = VectorParams(size=vectors.shape[1], distance=Distance.COSINE)
        self.client.create_collection("messages", vectors_config=shape)
        for first in range(0, len(vectors), 1000):
            part = range(first, min(first + 1000, len(vectors)))
            self._upsert([(i, vectors[i], texts[i]) for i in part])

    def add(self, id: int, vector: Vectors, text: str) -> None:
        self._upsert([(id, vector, text)])

    def search(self, vector: Vectors) -> Sequence[int]:
        found = self.client.query_points("messages", query=vector, limit=K, with_payload=True)
        return [int(point.id) for point in found.points]

    def size(self) -> int:
        return folder_bytes(self.folder)

    def _upsert(self, rows: Sequence[tuple[int, Vectors, str]]) -> None:
        points = [
            PointStruct(id=id, vector=vector.tolist(), payload={"text": text})
            for id, vector, text in rows
        ]
        self.client.upsert("messages", points)


if __name__ == "__main__":
    serve(Qdrant)
