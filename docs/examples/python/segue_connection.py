"""The sockets of the fast client. Comments refer to the steps of docs/wire-protocol.md, "Subscribing without loss"."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from struct import pack

import zmq.asyncio

from segue_outbox import FIRST_DELAY, Outbox
from segue_subscription import Subscription
from segue_wire import BusError, Entry, Operation, Origins, Page, Reader, endpoints, reconnect, sockets

logger = logging.getLogger("segue")


class Connection:
    def __init__(self, address: str) -> None:
        self.epoch = 0
        self.lost_ends = 0
        self.notices: asyncio.Queue[tuple[int, list[bytes] | None]] = asyncio.Queue()
        self._seen = 0
        self._reminder = 0, 0  # Head and mark in the reply to the last hello.
        self._inbox = f"~{os.urandom(16).hex()}."
        self._confirmations: dict[str, tuple[Subscription, asyncio.Future[None]]] = {}
        self._subscriptions: list[Subscription] = []
        self._last_inbox = 0
        self._context = zmq.asyncio.Context()
        self._endpoints = endpoints(address)
        self._ingress, self._feed = sockets(self._context, address, room=4096)
        self.outbox = Outbox(self._ingress)
        self._feed.subscribe(self._inbox)
        self._last_reply = time.monotonic()
        self._patience = 10  # Seconds without a reply before the ingress reconnects. Doubles each time, up to 40.
        self._says_long_hello = True
        self._hello: asyncio.Task[list[bytes]] | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._is_leaving = False
        self._asks_heads = False
        self._has_reconnected = False
        self._packets = 0  # The number of packets that the feed has brought.

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._tasks = group
            for loop in (self._take_replies, self._take_feed, self._greet, self._send_again):
                group.create_task(loop())

    async def leave(self) -> None:
        self._is_leaving = True  # A hello after the bye would tell the broker that this client is alive.
        await self.outbox.request(Operation.BYE, self._greeting())

    def close(self) -> None:
        self._context.destroy(linger=0)

    async def _take_replies(self) -> None:
        while True:
            try:
                notice = await self.outbox.receive()
                self._last_reply, self._patience = time.monotonic(), 10
                if notice:
                    self.notices.put_nowait(notice)
            except (ValueError, IndexError) as error:
                logger.error("a reply or a query of the broker cannot be read: %s", error)

    async def _send_again(self) -> None:
        """Looks four times a second for what to send again, and reconnects without a reply for 10 s or more.

        Once a second, also subscribes again to the inboxes without an answer, because the feed may drop an answer.
        """
        while True:
            for _ in range(4):
                await asyncio.sleep(FIRST_DELAY)
                await self.outbox.resend()
            for inbox in self._confirmations:
                self._feed.unsubscribe(inbox)
                self._feed.subscribe(inbox)
            if time.monotonic() - self._last_reply > self._patience:
                reconnect(self._ingress, self._endpoints[0])
                self._last_reply, self._patience = time.monotonic(), min(2 * self._patience, 40)
                await self.outbox.send_all()

    # Hello

    def _greeting(self) -> bytes:
        return self.outbox.producer + pack(">QQQQ", self.epoch, self._seen, *self._reminder)

    async def _greet(self) -> None:
        """Sends hello once a second, and finds lost messages that no later message shows (step 6).

        Renews the feed's connection if two comparisons in a row find a loss and the feed brings no packet between them.
        """
        packets = losses = 0
        while not self._is_leaving:
            try:
                answered, leased = self.outbox.answered, self.outbox.leases.count
                greeted, seen = self.epoch, self._seen
                greeting = self._greeting() + b"\x01" * self._says_long_hello
                hello = self._hello = asyncio.create_task(self.outbox.request(Operation.HELLO, greeting))
                await asyncio.wait({hello})
                if hello.cancelled():
                    continue  # The feed has reconnected: the next hello contains the latest offset (step 7).
                welcome = Reader(hello.result()[0])
                epoch, head, sequence, mark = (welcome.number() for _ in range(4))
                start, held = (welcome.number(), welcome.number()) if welcome.rest else (0, leased)
                self._follow(epoch, start)
                if epoch == greeted and head < seen:
                    self._take_back(head)
                self._reminder = head, mark
                await self.outbox.compare(sequence, answered)
                await self.outbox.send_lost()
                if self._is_leaving:
                    return
                await self.outbox.publish_leased_again(held, leased)
                asking = [subscription for subscription in self._subscriptions if subscription.polled < head]
                if asking and self._tasks and not self._asks_heads:
                    # This loop goes on without the heads: only the answer to a later hello shows that they are lost.
                    self._asks_heads = True
                    self._tasks.create_task(self._note_heads(asking))
            except BusError as error:
                if self._says_long_hello and error.code == BusError.MALFORMED and error is hello.exception():
                    self._says_long_hello = False  # An old broker does not know the long hello.
                    continue
                logger.warning("the broker refused hello: %s", error)
                await self.outbox.send_lost()
            for _ in range(10):
                await asyncio.sleep(0.1)
                if self._has_reconnected:
                    break
            self._has_reconnected = False
            has_lost = [subscription.judge() for subscription in self._subscriptions]
            if self._packets != packets:
                packets, losses = self._packets, 0
            elif any(has_lost):
                losses += 1
            if losses == 2:  # Two comparisons in a row found a loss, and no packet came between them.
                reconnect(self._feed, self._endpoints[1])
                losses = 0

    async def _note_heads(self, asking: list[Subscription]) -> None:
        filters = sorted({topic for subscription in asking for topic in subscription.filters})
        cursor = pack(">QQ", self.epoch, min(subscription.polled for subscription in asking))
        try:
            extent, *topics = await self.outbox.request(Operation.HEADS, cursor, *encoded(filters))
        except BusError as error:
            logger.warning("the broker refused heads: %s", error)
            return
        finally:
            self._asks_heads = False
        reader = Reader(extent)
        epoch, through = reader.number(), reader.number()
        if epoch == self.epoch:
            heads = [(reader.number(), reader.text()) for reader in map(Reader, topics)]
            for subscription in asking:
                subscription.note(through, {topic: offset for offset, topic in heads})

    def _follow(self, epoch: int, start: int = 0) -> None:
        """Takes the journal's epoch from a reply. If the epoch is new, all subscriptions start again (step 8).

        The messages of the new epoch begin after `start`.
        """
        previous, self.epoch = self.epoch, epoch
        if previous in (0, epoch):
            return
        self._seen, self._reminder = 0, (0, 0)
        for subscription in self._subscriptions:
            subscription.restart(start)
        self.outbox.leases.doubt()

    def _take_back(self, head: int) -> None:
        """Goes back to `head`, because the journal ends at `head` and this client has received later messages."""
        logger.warning("the journal has lost its end after offset %d", head)
        self._seen, self.lost_ends = head, self.lost_ends + 1
        for subscription in self._subscriptions:
            subscription.take_back(head)
        self.outbox.leases.doubt()  # The journal may hold older versions of leased documents.

    # The feed

    @asynccontextmanager
    async def subscribed(self, subscription: Subscription) -> AsyncIterator[None]:
        """Subscribes while the block runs. The block begins after the broker has confirmed the filters."""
        self._last_inbox += 1
        inbox, confirmed = f"{self._inbox}{self._last_inbox}", asyncio.get_running_loop().create_future()
        self._confirmations[inbox] = (subscription, confirmed)
        for topic in [*subscription.filters, inbox]:
            self._feed.subscribe(topic)
        try:
            await confirmed
            yield
        finally:
            if self._confirmations.pop(inbox, None):
                self._feed.unsubscribe(inbox)
            else:
                self._subscriptions.remove(subscription)
            for topic in subscription.filters:
                self._feed.unsubscribe(topic)

    async def page(self, operation: Operation, epoch: int, after: int, filters: list[str]) -> Page:
        page = Page(*await self.outbox.request(operation, pack(">QQ", epoch, after), *encoded(filters)))
        if page.epoch == self.epoch:
            self._seen = max(self._seen, page.through)
        return page

    async def _take_feed(self) -> None:
        while True:
            frames = await self._feed.recv_multipart()
            try:
                topic, reader = frames[0].decode(), Reader(frames[1])
                epoch = reader.number()
                if topic.startswith("~"):
                    await self._confirm(topic, epoch, reader.number())
                elif epoch == self.epoch:
                    self._take_packet(topic, reader, Origins(frames[2:]))
            except (ValueError, IndexError) as error:
                logger.error("a packet of the feed cannot be read: %s", error)

    def _take_packet(self, topic: str, reader: Reader, origins: Origins) -> None:
        self._packets += 1
        while reader.rest:
            offset, previous, previous_in_partition = reader.number(), reader.number(), reader.number()
            entry = Entry(topic, self.epoch, offset, reader.blob(), reader.blob(), origins.next())
            self._seen = max(self._seen, offset)
            for subscription in self._subscriptions:
                subscription.take(entry, previous, previous_in_partition)

    async def _confirm(self, inbox: str, epoch: int, head: int) -> None:
        if self.epoch == 0:
            self._follow(epoch)
        if epoch != self.epoch:
            return  # Only a reply changes the epoch. `_send_again` subscribes to the inbox again within a second.
        if inbox in self._confirmations:
            subscription, confirmed = self._confirmations.pop(inbox)
            self._feed.unsubscribe(inbox)
            subscription.begin(head)
            self._subscriptions.append(subscription)
            if not confirmed.done():
                confirmed.set_result(None)
        elif inbox == self._inbox:
            # The feed has reconnected (step 7). The next hello and heads find the messages that the feed has lost.
            self._has_reconnected = True
            if self._hello:
                self._hello.cancel()
            await self.outbox.send_asks()


def encoded(texts: Iterable[str]) -> list[bytes]:
    return [text.encode() for text in texts]
