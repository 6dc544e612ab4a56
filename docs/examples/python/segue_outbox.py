"""The requests of the fast client. A request is sent again if the answer to a later hello shows that it is lost."""

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
# The delay until an unanswered hello is sent again, in seconds. It doubles up to the maximum.
FIRST_DELAY, LONGEST_DELAY = 0.25, 2.0


@dataclass
class Pending:
    """A request that is not answered.

    `sequence` is 0 unless the request is a batch. The `body` of a batch does not contain the producer and the sequence.
    They are added when the batch is sent, because `Outbox.compare` may change the sequence.
    """

    operation: Operation
    body: tuple[bytes, ...]
    reply: asyncio.Future[list[bytes]]
    sequence: int
    delay: float = 0  # Seconds between the last sending and the next one.
    due: float = 0  # The time of the next sending, on the clock time.monotonic().
    first: int = 0  # The place of the first copy among all that was sent; 0 if none was sent.
    last: int = 0  # The place of the last copy.
    change: int | None = None  # The number that Leases.begin returned.

    @property
    def is_transient(self) -> bool:
        return self.operation == Operation.PUBLISH and self.body[0][0] & TRANSIENT != 0


class Outbox:
    """Sends requests on the DEALER socket until they are answered. Sending a request twice does no harm."""

    def __init__(self, ingress: zmq.asyncio.Socket) -> None:
        self.producer = os.urandom(16)
        self.leases = Leases()
        self._ingress = ingress
        self._last_id = 0
        self._pending: dict[int, Pending] = {}
        self._sequences = {True: 0, False: 0}  # The last sequence of transient batches (True) and of others (False).
        self.answered = 0  # The highest sequence of an answered batch that is not transient.
        self._is_out_of_sequence = False
        self._sent = 0  # The number of requests and copies that were sent.
        self._greeted = 0  # The place of the last hello that was answered.

    async def publish(self, flags: int, messages: list[bytes], frames: Sequence[bytes] = ()) -> list[bytes]:
        """Publishes a batch, with `frames` before its messages, and waits for the answer as `request` does."""
        return await self._answer(self._add_batch(flags, messages, frames))

    async def publish_leased_again(self, leased: int, before: int) -> None:
        """Publishes all leased documents again if the broker has withdrawn any. Does not wait for the answers.

        `leased` is the number of leased documents in the reply to a hello, `before` the number of documents that this
        client leased when it sent that hello.
        """
        for messages in self.leases.missing(leased, before):
            await self._send(self._add_batch(LEASED, messages))

    def _add_batch(self, flags: int, messages: list[bytes], frames: Sequence[bytes] = ()) -> int:
        content = [*frames, b"".join(messages)] if messages else frames
        id = self._add(Operation.PUBLISH, pack(">BH", flags, min(len(messages), 0xFFFF)), *content)
        self._pending[id].change = self.leases.begin(messages, flags & LEASED != 0)
        return id

    async def request(self, operation: Operation, *body: bytes) -> list[bytes]:
        """Sends a request and waits for the answer without a time limit. Raises BusError if the broker refuses it."""
        return await self._answer(self._add(operation, *body))

    async def _answer(self, id: int) -> list[bytes]:
        operation = self._pending[id].operation
        reply = self._pending[id].reply
        await self._send(id)
        try:
            return await reply
        except asyncio.CancelledError:
            # A batch is still sent, because the broker expects its sequence before the sequences of later batches.
            if operation != Operation.PUBLISH:
                self._pending.pop(id, None)
            if operation == Operation.ASK:
                await self.post(Operation.CANCEL, pack(">Q", id))
            raise

    async def post(self, operation: Operation, *body: bytes) -> None:
        """Sends a request as `request` does, but does not wait for the answer. A refusal is ignored."""
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
            return  # There is no room: `resend` sends it later.
        self._sent += 1
        pending.first, pending.last = pending.first or self._sent, self._sent

    async def send_all(self) -> None:
        """Sends all unanswered requests again, in order."""
        for id, pending in list(self._pending.items()):
            pending.delay = pending.first = pending.last = 0
            await self._send(id)

    async def resend(self) -> None:
        """Sends an overdue hello or bye again, and what has found no room. Call this method four times a second."""
        now = time.monotonic()
        for id, pending in list(self._pending.items()):
            if pending.due <= now and (pending.operation in (Operation.HELLO, Operation.BYE) or not pending.last):
                await self._send(id)

    async def send_asks(self) -> None:
        """Sends the queries again that were sent, because the broker may have been started again."""
        for id, pending in list(self._pending.items()):
            if pending.operation == Operation.ASK and pending.last:
                await self._send(id)

    async def send_lost(self) -> None:
        """Sends the requests again that were sent before the last answered hello and have no answer."""
        for id, pending in list(self._pending.items()):
            if 0 < pending.last < self._greeted and pending.operation != Operation.ASK:
                await self._send(id)

    async def compare(self, sequence: int, answered: int) -> None:
        """Compares the `sequence` in the reply to a hello with the value of `answered` before the hello was sent.

        If `sequence` is lower, the broker has forgotten batches. Then the unanswered batches get new numbers
        (Publishing, step 5), and all unanswered requests are sent again. They are also sent again if a batch was
        refused as out of sequence.
        """
        if sequence < answered:
            self._sequences[False] = self.answered = sequence
            for pending in self._pending.values():
                if pending.sequence and not pending.is_transient:
                    pending.sequence = self._next_sequence(pending.body[0])
        elif not self._is_out_of_sequence:
            return
        self._is_out_of_sequence = False
        await self.send_all()

    async def receive(self) -> tuple[int, list[bytes] | None] | None:
        """Receives one message from the broker: a reply, a query or the cancellation of a query.

        Returns None for a reply, the query's number and frames for a query, and the query's number and None for a
        cancellation. Raises ValueError or IndexError if the message cannot be read.
        """
        frames = await self._ingress.recv_multipart()
        reply = Reader(frames[0][3:])
        operation, id = reply.number(1), reply.number()
        if operation == Operation.QUERY or len(frames) == 1:
            return id, frames[1:] or None
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
        if pending.operation == Operation.HELLO:
            self._greeted = pending.first
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
