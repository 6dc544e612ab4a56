"""The leased documents of docs/wire-protocol.md, to be published again when the broker has withdrawn them."""

from __future__ import annotations

import time
from collections.abc import Iterator

from segue_wire import Reader

Key = tuple[str, str, str]  # Topic, subject, key.


class Leases:
    """What the broker should hold leased for this producer: the documents as they were last journalled."""

    interval = 5  # Seconds, as a lease: two processes that lease one document do not take it in turns faster.
    frame_size, batch_count = 8 * 1024 * 1024, 1024

    def __init__(self) -> None:
        self._documents: dict[Key, tuple[int, bytes | None]] = {}  # With the change; None is leased no more.
        self._under_way: dict[int, dict[Key, bytes | None]] = {}
        self._last_change = 0
        self._last_renewal: float | None = None
        self._are_in_doubt = False

    @property
    def count(self) -> int:
        return sum(document is not None for _, document in self._documents.values())

    def begin(self, messages: list[bytes], is_leased: bool) -> int | None:
        """A batch is to be sent. Returns the number of the change that it makes, if it makes one."""
        if not (is_leased or self._documents or self._under_way):
            return None
        changed: dict[Key, bytes | None] = {}
        for message in messages:
            reader = Reader(message)
            key = reader.text(), reader.text(), reader.text()
            reader.blob()
            if key[0].startswith("document."):
                changed[key] = message if is_leased and reader.blob() else None
        if not changed:
            return None
        self._last_change += 1
        self._under_way[self._last_change] = changed
        return self._last_change

    def end(self, change: int, is_journalled: bool) -> None:
        """The batch is answered. An answer that was sent again may come after those of later batches."""
        changed = self._under_way.pop(change)
        if is_journalled:
            for key, document in changed.items():
                if self._documents.get(key, (0, None))[0] < change:
                    self._documents[key] = change, document
        # What is leased no more is kept as long as an earlier change could bring it back.
        oldest = min(self._under_way, default=self._last_change)
        self._documents = {
            key: (last, document) for key, (last, document) in self._documents.items() if document or last > oldest
        }

    def doubt(self) -> None:
        """The journal is another one, or has lost its end."""
        self._are_in_doubt = True

    def missing(self, leased: int, before: int) -> list[list[bytes]]:
        """Batches of what is to be published again.

        `leased` is what a hello tells that the broker holds, and `before` the count when that hello was said.
        """
        now = time.monotonic()
        is_due = self._last_renewal is None or now - self._last_renewal > self.interval
        if not (self._are_in_doubt or leased < min(before, self.count) and is_due):
            return []
        self._are_in_doubt = False
        # Batches under way bring what is newer, or withdraw what is older.
        changing = {key for changed in self._under_way.values() for key in changed}
        batches = list(self._batches(changing))
        if batches:
            self._last_renewal = now
        return batches

    def _batches(self, changing: set[Key]) -> Iterator[list[bytes]]:
        batch: list[bytes] = []
        size = 0
        for key, (_, document) in sorted(self._documents.items(), key=lambda item: item[1][0]):
            if document is None or key in changing:
                continue
            if batch and (size + len(document) > self.frame_size or len(batch) == self.batch_count):
                yield batch
                batch, size = [], 0
            batch.append(document)
            size += len(document)
        if batch:
            yield batch
