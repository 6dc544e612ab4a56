"""Requests of docs/wire-protocol.md, each until it is answered."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from struct import pack

import zmq
import zmq.asyncio

from segue_leases import Leases
from segue_wire import BusError, Operation, Reader, head

LEASED, TRANSIENT = 1, 16
FIRST_DELAY, LONGEST_DELAY = 0.25, 2.0  # Seconds until a request is sent again.


@dataclass
class Pending:
    """A request that is not answered. A batch has a sequence, which is not 0, and gets its producer when it is sent."""

    operation: Operation
    body: tuple[bytes, ...]
    reply: asyncio.Future[list[bytes]]
    sequence: int
    delay: float = 0  # Seconds from the last sending to the next one.
    due: float = 0
    change: int | None = None  # Of leased documents.

    @property
    def is_transient(self) -> bool:
        return self.operation == Operation.PUBLISH and self.body[0][0] & TRANSIENT != 0


class Outbox:
    """Belongs to the DEALER socket. Sending again is always safe, and the cure for everything."""

    def __init__(self, ingress: zmq.asyncio.Socket) -> None:
        self.producer = os.urandom(16)
        self.leases = Leases()
        self._ingress = ingress
        self._last_id = 0
        self._pending: dict[int, Pending] = {}
        self._sequences = {True: 0, False: 0}  # Of transient batches, and of all others.
        self.answered = 0  # The last of all others that the broker has answered.
        self._is_out_of_sequence = False

    async def publish(self, flags: int, messages: list[bytes], frames: Sequence[bytes] = ()) -> list[bytes]:
        """Publishes a batch, with other frames before its messages, and waits as `request` does."""
        return await self._answer(self._add_batch(flags, messages, frames))

    async def publish_leased_again(self, leased: int, before: int) -> None:
        """Compares what a hello tells that is leased with what was when it was said. Nobody waits for the answers."""
        for messages in self.leases.missing(leased, before):
            await self._send(self._add_batch(LEASED, messages))

    def _add_batch(self, flags: int, messages: list[bytes], frames: Sequence[bytes] = ()) -> int:
        content = [*frames, b"".join(messages)] if messages else frames
        id = self._add(Operation.PUBLISH, pack(">BH", flags, min(len(messages), 0xFFFF)), *content)
        self._pending[id].change = self.leases.begin(messages, flags & LEASED != 0)
        return id

    async def request(self, operation: Operation, *body: bytes) -> list[bytes]:
        """Waits for the answer, however long the broker is away. Raises BusError when it refuses."""
        return await self._answer(self._add(operation, *body))

    async def _answer(self, id: int) -> list[bytes]:
        operation = self._pending[id].operation
        reply = self._pending[id].reply
        await self._send(id)
        try:
            return await reply
        except asyncio.CancelledError:
            # A batch is sent all the same: those behind it count on its sequence.
            if operation != Operation.PUBLISH:
                self._pending.pop(id, None)
            if operation == Operation.ASK:
                await self.post(Operation.CANCEL, pack(">Q", id))
            raise

    async def post(self, operation: Operation, *body: bytes) -> None:
        """As `request`, but nobody waits for the answer."""
        await self._send(self._add(operation, *body))

    def _add(self, operation: Operation, *body: bytes) -> int:
        sequence = self._next_sequence(body[0]) if operation == Operation.PUBLISH else 0
        reply: asyncio.Future[list[bytes]] = asyncio.get_running_loop().create_future()
        reply.add_done_callback(lambda reply: reply.cancelled() or reply.exception())
        self._last_id += 1
        self._pending[self._last_id] = Pending(operation, body, reply, sequence)
        return self._last_id

    def _next_sequence(self, batch: bytes) -> int:
        is_transient = batch[0] & TRANSIENT != 0
        self._sequences[is_transient] += 1
        return self._sequences[is_transient]

    async def _send(self, id: int) -> None:
        if not (pending := self._pending.get(id)):
            return
        batch = self.producer + pack(">Q", pending.sequence) if pending.sequence else b""
        frames = [head(pending.operation, id), batch + pending.body[0], *pending.body[1:]]
        pending.delay = min(2 * pending.delay, LONGEST_DELAY) or FIRST_DELAY
        pending.due = time.monotonic() + pending.delay
        try:
            await self._ingress.send_multipart(frames, flags=zmq.NOBLOCK)
        except zmq.Again:
            pass  # What has no room or no connection is not waited for: it is sent again.

    async def send_all(self) -> None:
        for id, pending in list(self._pending.items()):
            pending.delay = 0
            await self._send(id)

    async def resend(self) -> None:
        """Sends again what should have been answered. To be called four times a second."""
        now = time.monotonic()
        for id in [id for id, pending in self._pending.items() if pending.due <= now]:
            await self._send(id)

    async def compare(self, sequence: int, answered: int) -> None:
        """What a hello tells that the broker has, and what it had answered before that hello (publishing, step 5)."""
        if sequence < answered:
            self._sequences[False] = self.answered = sequence
            for pending in self._pending.values():
                if pending.sequence and not pending.is_transient:
                    pending.sequence = self._next_sequence(pending.body[0])
        elif not self._is_out_of_sequence:
            return
        self._is_out_of_sequence = False
        await self.send_all()

    async def receive(self) -> tuple[int, bytes | None] | None:
        """Takes a reply. Returns a notice: the number of a query and the query, or None when it is cancelled.

        Raises ValueError or IndexError when it cannot be read.
        """
        frames = await self._ingress.recv_multipart()
        reply = Reader(frames[0][3:])
        operation, id = reply.number(1), reply.number()
        if operation == Operation.QUERY or len(frames) == 1:
            return id, frames[1] if len(frames) > 1 else None
        status = Reader(frames[1])
        self._take(id, status.number(1), status.text(), frames[2:])
        return None

    def _take(self, id: int, code: int, reason: str, body: list[bytes]) -> None:
        if not (pending := self._pending.get(id)):
            return
        if pending.sequence and code in (BusError.SEQUENCE, BusError.JOURNAL):
            self._is_out_of_sequence |= code == BusError.SEQUENCE
            return
        del self._pending[id]
        if pending.change is not None:
            self.leases.end(pending.change, is_journalled=code == 0)
        if pending.sequence and not pending.is_transient:
            self.answered = max(self.answered, pending.sequence)
        if pending.reply.done():
            return
        if code:
            pending.reply.set_exception(BusError(code, reason))
        else:
            pending.reply.set_result(body)
