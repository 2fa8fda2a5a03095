"""Run as a process of its own: what a program pays before its first answer, and its memory.

Arguments: store, question, model ("" for the default).  Prints one JSON object; times are seconds,
memory is bytes resident.
"""

from __future__ import annotations

import json
import sys
import time

import psutil

STARTED = time.perf_counter()
RSS_START = psutil.Process().memory_info().rss


def main(path: str, question: str, model_name: str) -> None:
    rss = psutil.Process().memory_info
    import cortext
    from cortext import models

    imported, rss_imported = time.perf_counter(), rss().rss
    model = models.load(model_name or None)
    loaded = time.perf_counter()
    model.embed([question[::-1]])  # so that the memory one pass takes is in the figure
    embedded, rss_model = time.perf_counter(), rss().rss
    engine = cortext.open(path, model=model)
    opened = time.perf_counter()
    engine.recall(question)
    answered, rss_store = time.perf_counter(), rss().rss
    engine.close()
    print(
        json.dumps(
            {
                "import": imported - STARTED,
                "load": loaded - imported,
                "open": opened - embedded,
                "recall": answered - opened,
                "rss_start": RSS_START,
                "rss_import": rss_imported,
                "rss_model": rss_model,
                "rss_store": rss_store,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:4])
