"""Chroma: a persistent client, embeddings from outside, its HNSW index with its defaults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chromadb
from chromadb.config import Settings
from serve import K, Vectors, folder_bytes, serve


class Chroma:
    def __init__(self, _variant: str, folder: Path) -> None:
        self.folder = folder
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self.messages = client.create_collection(
            "messages", embedding_function=None, metadata={"hnsw:space": "ip"}
        )

    def build(self, vectors: Vectors, texts: Sequence[str]) -> None:
        for first in range(0, len(vectors), 1000):
            end = min(first + 1000, len(vectors))
            self.messages.add(
                ids=[str(i) for i in range(first, end)],
                embeddings=vectors[first:end],
                documents=list(texts[first:end]),
            )

    def add(self, id: int, vector: Vectors, text: str) -> None:
        self.messages.add(ids=[str(id)], embeddings=[vector], documents=[text])

    def search(self, vector: Vectors) -> Sequence[str]:
        found = self.messages.query(
            query_embeddings=[vector], n_results=K, include=["documents", "distances"]
        )
        ids: Sequence[str] = found["ids"][0]
        return ids

    def size(self) -> int:
        return folder_bytes(self.folder)


if __name__ == "__main__":
    serve(Chroma)
