"""The algorithm in docs/wire-protocol.md, "Subscribing without loss". Comments refer to the steps of that section."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace

from segue_wire import Entry, Message, Operation, Page

logger = logging.getLogger("segue")

ReadPage = Callable[[Operation, int, list[str]], Awaitable[Page | None]]


class Subscription:
    """The messages that match the filters, in the order of each chain: `async for message in subscription`.

    Within an epoch no message is lost, except transient messages, and no message comes twice.
    """

    # The maximum number of buffered messages. When the buffer is full, messages from the feed are dropped and read from
    # the journal later.
    capacity = 1024

    def __init__(
        self, read_page: ReadPage, filters: list[str], subject: str | None, after: int | None, retained: bool,
        with_problems: bool = False,
    ) -> None:  # fmt: skip
        self.read_page, self.filters, self.subject, self.after = read_page, filters, subject, after
        self.retained = retained
        self.with_problems = with_problems
        self.is_of_one_type = len(filters) == 1 and "." in filters[0][:-1]
        self.base, self.skipped, self.polled = 0, 0, 0
        self.seen: dict[str, int] = {}
        self.is_live, self.has_ended, self.is_idle = False, False, False
        self.documents_after = 0 if retained else None
        self.heads: tuple[int, dict[str, int]] | None = None
        self.buffer: deque[tuple[Entry, int]] = deque()
        self.something = asyncio.Event()
        self.generation = 0

    def begin(self, head: int) -> None:
        """Starts the subscription when its filters are live (step 3). `head` is the end of the journal at that time."""
        self.base, self.skipped, self.polled = head if self.after is None else self.after, head, head
        self.is_live = self.base == head and self.documents_after is None

    def restart(self, start: int) -> None:
        """Starts again in a new epoch, whose messages begin after `start` (step 8)."""
        base = start if self.after is None else 0
        self.base, self.skipped, self.polled, self.seen, self.heads = base, base, base, {}, None
        self.is_live, self.documents_after = False, 0 if self.retained else None
        self.generation += 1
        self.something.set()

    def take_back(self, head: int) -> None:
        """Goes back to `head`, because the journal has lost the messages after it and will reuse their offsets."""
        self.base, self.skipped, self.polled = (min(offset, head) for offset in (self.base, self.skipped, self.polled))
        self.seen = {chain: min(offset, head) for chain, offset in self.seen.items()}
        self.heads, self.is_live = None, False
        if self.documents_after is not None:
            self.documents_after = min(self.documents_after, head)
        self.generation += 1
        self.something.set()

    def end(self) -> None:
        self.has_ended = True
        self.something.set()

    def chain(self, topic: str) -> str:
        """The chain of a topic: the topic, or its partition if the filters match several types."""
        return topic if self.is_of_one_type else topic[-2:]

    def known(self, topic: str) -> int:
        """The offset up to which the messages of the topic's chain are delivered."""
        return self.seen.get(self.chain(topic), self.base)

    def matches(self, topic: str) -> bool:
        return any(topic.startswith(prefix) for prefix in self.filters)

    def take(self, entry: Entry, previous: int, previous_in_partition: int) -> None:
        """Takes a message from the feed (step 4)."""
        known = self.known(entry.topic)
        if not self.matches(entry.topic) or 0 < entry.offset <= known:
            return
        has_room = self.is_live and len(self.buffer) < self.capacity
        if entry.offset == 0:
            if has_room:
                self.deliver(entry, 0)
        elif has_room and entry.header and (previous if self.is_of_one_type else previous_in_partition) <= known:
            self.seen[self.chain(entry.topic)] = entry.offset
            self.deliver(entry, self.base)
        else:
            self.recover(entry.offset)

    def deliver(self, entry: Entry, settled: int) -> None:
        self.buffer.append((entry, settled))
        self.something.set()

    def recover(self, offset: int) -> None:
        """Ends the live state: `read` reads pages, at least up to `offset`, until the subscription is live again."""
        self.skipped = max(self.skipped, offset)
        self.is_live = False
        self.something.set()

    def advance(self, through: int) -> None:
        self.base = max(self.base, through)
        self.seen = {chain: offset for chain, offset in self.seen.items() if offset > self.base}

    async def read(self) -> None:
        """Reads a page. The subscription is live again after it has read all messages that it dropped (step 5)."""
        generation = self.generation
        if self.documents_after is not None:
            page = await self.read_page(Operation.DOCUMENTS, self.documents_after, self.filters)
            if page and self.generation == generation:
                for entry in page.entries:
                    if entry.offset <= self.base:
                        self.deliver(entry, self.base)
                self.documents_after = None if page.is_complete else page.through
        elif (page := await self.read_page(Operation.READ, self.base, self.filters)) and self.generation == generation:
            for entry in page.entries:
                if entry.offset > self.known(entry.topic):
                    self.deliver(entry, entry.offset)
            self.advance(page.through)
            self.is_live = page.is_complete and page.through >= self.skipped

    def note(self, through: int, offsets: dict[str, int]) -> None:
        """Keeps the reply to heads until `judge` compares it: the last offset of each topic, up to `through`.

        Offsets of an earlier reply that has not been compared remain.
        """
        self.polled = max(self.polled, through)
        self.heads = through, (self.heads[1] if self.heads else {}) | offsets

    def judge(self) -> bool:
        """Compares the noted heads with the delivered messages (step 6). Returns True if a message has been lost."""
        heads, self.heads = self.heads, None
        if not heads or not self.is_live:
            return False
        through, offsets = heads
        missing = [offset for topic, offset in offsets.items() if self.matches(topic) and offset > self.known(topic)]
        if missing:
            self.recover(max(missing))
        else:
            self.advance(through)
        return bool(missing)

    @property
    def settled(self) -> int | None:
        """The offset up to which every message is handled. None unless the consumer waits for the next message.

        A consumer that waits for the next message has handled all earlier ones.
        """
        return self.base if self.is_idle and not self.buffer else None

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Message:
        while not self.has_ended:
            if self.buffer:
                entry, settled = self.buffer.popleft()
                message = replace(entry.message(), settled=settled)
                if message.problem and not self.with_problems:
                    logger.warning("a message was skipped: %s", message.problem)
                elif message.problem or self.subject in (None, message.subject):
                    return message
            elif self.is_live:
                self.something.clear()
                self.is_idle = True
                await self.something.wait()
                self.is_idle = False
            else:
                await self.read()
        raise StopAsyncIteration
