"""The leased documents of the fast client. The client publishes them again if the broker has withdrawn them."""

from __future__ import annotations

import time
from collections.abc import Iterator

from segue_wire import Reader

Key = tuple[str, str, str]  # Topic, subject, key.


class Leases:
    """The documents that this producer leases, in the version that the journal recorded last."""

    # The minimum time between two renewals, in seconds. It is as long as a lease. Without this minimum, two processes
    # that lease the same document would replace each other's version after every hello.
    interval = 5
    # The maximum size of a frame in bytes, and the maximum number of messages of a batch. Further documents are
    # published in further batches.
    frame_size, batch_count = 8 * 1024 * 1024, 1024

    def __init__(self) -> None:
        # For each document the number of its last change, and the published message or None if it is no longer leased.
        self._documents: dict[Key, tuple[int, bytes | None]] = {}
        self._under_way: dict[int, dict[Key, bytes | None]] = {}
        self._last_change = 0
        self._last_renewal: float | None = None
        self._are_in_doubt = False

    @property
    def count(self) -> int:
        return sum(document is not None for _, document in self._documents.values())

    def begin(self, messages: list[bytes], is_leased: bool) -> int | None:
        """Notes a batch before it is sent. Returns the number of its change, or None if the batch changes no lease."""
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
        """Notes the answer to a batch. If the batch was sent again, answers to later batches may have come before."""
        changed = self._under_way.pop(change)
        if is_journalled:
            for key, document in changed.items():
                if self._documents.get(key, (0, None))[0] < change:
                    self._documents[key] = change, document
        # The entry of a document that is no longer leased is kept until all earlier changes are answered. Without the
        # entry, an earlier change could add the document again.
        oldest = min(self._under_way, default=self._last_change)
        self._documents = {
            key: (last, document) for key, (last, document) in self._documents.items() if document or last > oldest
        }

    def doubt(self) -> None:
        """Notes that the journal may lack leased documents: it has a new epoch, or has lost its end."""
        self._are_in_doubt = True

    def missing(self, leased: int, before: int) -> list[list[bytes]]:
        """Returns the batches that publish all leased documents again. Empty if the broker still leases them.

        `leased` is the number of leased documents in the reply to a hello, `before` the `count` when that hello was
        sent. The list is also empty within `interval` of the last renewal, unless `doubt` was called.
        """
        now = time.monotonic()
        is_due = self._last_renewal is None or now - self._last_renewal > self.interval
        if not (self._are_in_doubt or leased < min(before, self.count) and is_due):
            return []
        self._are_in_doubt = False
        # Leaves out the documents of batches under way, which publish newer versions or withdraw them.
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
