"""The two sockets of docs/wire-protocol.md, and every request until it is answered."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from struct import pack

import zmq
import zmq.asyncio

from segue_subscription import Subscription
from segue_wire import BusError, Entry, Operation, Page, Reader

logger = logging.getLogger("segue")


@dataclass
class Pending:
    """A request that is not answered. A batch gets its producer and its sequence when it is sent."""

    operation: Operation
    body: tuple[bytes, ...]
    reply: asyncio.Future[list[bytes]]
    sequence: int
    sent_at: float = 0


class Connection:
    def __init__(self, address: str) -> None:
        self.epoch, self.producer = 0, os.urandom(16)
        self.notices: asyncio.Queue[tuple[int, bytes | None]] = asyncio.Queue()
        self._sequence, self._last_id = 0, 0
        self._pending: dict[int, Pending] = {}
        self._is_out_of_sequence = False
        self._seen, self._polled = 0, 0
        self._inbox = f"~{os.urandom(16).hex()}."
        self._confirmations: dict[str, tuple[Subscription, asyncio.Future[None]]] = {}
        self._subscriptions: list[Subscription] = []
        self._context = zmq.asyncio.Context()
        self._ingress, self._feed = self._context.socket(zmq.DEALER), self._context.socket(zmq.SUB)
        for socket in (self._ingress, self._feed):
            socket.setsockopt(zmq.HEARTBEAT_IVL, 2000)
        self._ingress.setsockopt(zmq.IMMEDIATE, 1)
        self._feed.setsockopt(zmq.SNDHWM, 0)
        self._feed.subscribe(self._inbox)
        if address.startswith("tcp://"):
            host, port = address.rsplit(":", 1)
            self._ingress.connect(address)
            self._feed.connect(f"{host}:{int(port) + 1}")
        else:
            self._ingress.connect(f"{address}/ingress")
            self._feed.connect(f"{address}/feed")

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for loop in (self._take_replies, self._take_feed, self._greet, self._resend):
                group.create_task(loop())

    async def leave(self) -> None:
        await self.request(Operation.BYE, self._greeting())

    def close(self) -> None:
        self._context.destroy(linger=0)

    # Requests

    async def request(self, operation: Operation, *body: bytes) -> list[bytes]:
        """Waits for the answer, however long the broker is away. Raises BusError when it refuses."""
        id = await self.post(operation, *body)
        try:
            return await self._pending[id].reply
        except asyncio.CancelledError:
            # A batch is sent all the same: those behind it count on its sequence.
            if operation != Operation.PUBLISH:
                self._pending.pop(id, None)
            if operation == Operation.ASK:
                await self.post(Operation.CANCEL, pack(">Q", id))
            raise

    async def post(self, operation: Operation, *body: bytes) -> int:
        """As `request`, for nobody who waits."""
        is_batch = operation == Operation.PUBLISH
        self._sequence += is_batch
        reply = asyncio.get_running_loop().create_future()
        reply.add_done_callback(lambda reply: reply.cancelled() or reply.exception())
        self._last_id += 1
        id = self._last_id
        self._pending[id] = Pending(operation, body, reply, self._sequence if is_batch else 0)
        await self._send(id)
        return id

    async def _send(self, id: int) -> None:
        pending = self._pending[id]
        head = b"SG\x01" + pack(">BQ", pending.operation, id)
        batch = self.producer + pack(">Q", pending.sequence) if pending.sequence else b""
        pending.sent_at = time.monotonic()
        try:
            # What has no room or no connection is not waited for: it is sent again.
            await self._ingress.send_multipart([head, batch + pending.body[0], *pending.body[1:]], flags=zmq.NOBLOCK)
        except zmq.Again:
            pending.sent_at = 0

    async def _send_all(self) -> None:
        for id in list(self._pending):
            await self._send(id)

    async def _resend(self) -> None:
        while True:
            await asyncio.sleep(1)
            if any(time.monotonic() - pending.sent_at >= 2 for pending in self._pending.values()):
                await self._send_all()
            for inbox in self._confirmations:
                self._feed.unsubscribe(inbox)
                self._feed.subscribe(inbox)

    async def _take_replies(self) -> None:
        while True:
            frames = await self._ingress.recv_multipart()
            try:
                self._take_reply(frames)
            except (ValueError, IndexError) as error:
                logger.error("what the broker answered cannot be read: %s", error)
            if self._is_out_of_sequence and not await self._ingress.poll(0):
                self._is_out_of_sequence = False
                await self._send_all()

    def _take_reply(self, frames: list[bytes]) -> None:
        head = Reader(frames[0][3:])
        operation, id = head.number(1), head.number()
        if operation == Operation.QUERY or len(frames) == 1:
            return self.notices.put_nowait((id, frames[1] if len(frames) > 1 else None))
        status = Reader(frames[1])
        code, reason = status.number(1), status.text()
        pending = self._pending.get(id)
        if not pending:
            return
        if operation == Operation.PUBLISH and code in (BusError.SEQUENCE, BusError.JOURNAL):
            self._is_out_of_sequence |= code == BusError.SEQUENCE
            return
        del self._pending[id]
        if pending.reply.done():
            return
        if code:
            pending.reply.set_exception(BusError(code, reason))
        else:
            pending.reply.set_result(frames[2:])

    # Presence

    def _greeting(self) -> bytes:
        return self.producer + pack(">QQ", self.epoch, self._seen)

    async def _greet(self) -> None:
        """Once a second: says that this producer lives, and looks for lost messages that nothing followed (step 6)."""
        while True:
            try:
                welcome = Reader((await self.request(Operation.HELLO, self._greeting()))[0])
                epoch, head = welcome.number(), welcome.number()
                await self._follow(epoch)
                if head > self._polled and self._subscriptions:
                    await self._note_heads()
            except BusError as error:
                logger.warning("the broker refused: %s", error)
            await asyncio.sleep(1)
            for subscription in self._subscriptions:
                subscription.judge()

    async def _note_heads(self) -> None:
        filters = sorted({topic for subscription in self._subscriptions for topic in subscription.filters})
        cursor = pack(">QQ", self.epoch, self._polled)
        extent, *topics = await self.request(Operation.HEADS, cursor, *encoded(filters))
        reader = Reader(extent)
        epoch, through = reader.number(), reader.number()
        if epoch == self.epoch:
            self._polled = max(self._polled, through)
            heads = [(reader.number(), reader.text()) for reader in map(Reader, topics)]
            for subscription in self._subscriptions:
                subscription.heads = through, {topic: offset for offset, topic in heads}

    async def _follow(self, epoch: int) -> None:
        """Another epoch means another journal, which knows neither this producer nor any offset (step 8)."""
        previous, self.epoch = self.epoch, epoch
        if previous in (0, epoch):
            return
        self.producer, self._sequence, self._seen, self._polled = os.urandom(16), 0, 0, 0
        for pending in self._pending.values():
            if pending.sequence:
                self._sequence += 1
                pending.sequence = self._sequence
        for subscription in self._subscriptions:
            subscription.restart()
        await self._send_all()

    # The feed

    @asynccontextmanager
    async def subscribed(self, subscription: Subscription) -> AsyncIterator[None]:
        """The subscription is live when the block begins."""
        self._last_id += 1
        inbox, confirmed = f"{self._inbox}{self._last_id}", asyncio.get_running_loop().create_future()
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
        page = Page(*await self.request(operation, pack(">QQ", epoch, after), *encoded(filters)))
        for offset in page.damaged:
            logger.error("the journal is damaged at offset %d: that message was skipped", offset)
        if page.epoch == self.epoch:
            self._seen = max(self._seen, page.through)
        return page

    async def _take_feed(self) -> None:
        while True:
            frames = await self._feed.recv_multipart()
            try:
                position = Reader(frames[1])
                if frames[0].startswith(b"~"):
                    await self._confirm(frames[0].decode(), position.number(), position.number())
                    continue
                epoch, offset, previous = position.number(), position.number(), position.number()
                header, data = frames[2:] or (b"", b"")
                entry = Entry(frames[0].decode(), epoch, offset, header, data)
            except (ValueError, IndexError) as error:
                logger.error("a message of the feed cannot be read: %s", error)
                continue
            await self._follow(epoch)
            self._seen = max(self._seen, offset)
            for subscription in self._subscriptions:
                subscription.take(entry, previous)

    async def _confirm(self, inbox: str, epoch: int, head: int) -> None:
        await self._follow(epoch)
        if inbox in self._confirmations:
            subscription, confirmed = self._confirmations.pop(inbox)
            self._feed.unsubscribe(inbox)
            subscription.begin(head)
            self._subscriptions.append(subscription)
            if not confirmed.done():
                confirmed.set_result(None)
        elif inbox == self._inbox:
            # The feed has reconnected (step 7). What it lost meanwhile, the next greetings find.
            await self._send_all()


def encoded(texts: Iterable[str]) -> list[bytes]:
    return [text.encode() for text in texts]
