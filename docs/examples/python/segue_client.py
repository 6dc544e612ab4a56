"""The fast client of the Segue broker, written from docs/wire-protocol.md alone. Needs Python 3.11 and pyzmq."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from struct import pack
from typing import Any

from segue_connection import Connection, encoded
from segue_subscription import Subscription
from segue_wire import LEAVING, RENEWAL, BusError, Claim, DeadLetter, Message, Operation, Origins, Reader
from segue_wire import claim_frame, filters_of, rejected, text

logger = logging.getLogger("segue")


Handler = Callable[[Message], Awaitable[Sequence[Message]]]
Answer = Callable[[Message], Awaitable[Any]]


@asynccontextmanager
async def connect(address: str, source: str) -> AsyncIterator[Bus]:
    """Connects a client while the block runs. `source` is the client's name and instance: `name/instance`.

    The broker may start later: requests wait for the broker.
    """
    connection = Connection(address)
    bus = Bus(connection, source)
    tasks = [asyncio.create_task(connection.run()), asyncio.create_task(bus.run())]
    for task in tasks:
        task.add_done_callback(_report)
    try:
        yield bus
    finally:
        try:
            await asyncio.wait_for(connection.leave(), 0.5)
        except (BusError, TimeoutError):
            logger.warning("the broker did not accept bye within 0.5 s; leases and shares end after 5 s of silence")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        connection.close()


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.critical("a task of the client has failed, so the client has stopped; connect again", exc_info=error)


class Bus:
    def __init__(self, connection: Connection, source: str) -> None:
        self._connection, self._outbox, self._source = connection, connection.outbox, source
        self._answers: dict[str, Answer] = {}
        self._registering = asyncio.Lock()
        # Limits the unanswered batches to 1000; further batches wait. The broker allows 1024. The other 24 are kept for
        # batches that renew leases.
        self._room = asyncio.Semaphore(1000)
        self._queries: dict[int, asyncio.Task[None]] = {}

    async def publish(
        self, *messages: Message, settled: Sequence[int] = (), leased: bool = False, transient: bool = False
    ) -> tuple[int, int]:
        """Publishes a batch, and returns the epoch and offset of its last message when the journal has recorded it.

        `settled` contains the ids of dead letters that the batch settles. A leased document is withdrawn when this
        client ends or is silent for 5 s. Transient messages are sent to the present subscribers and are not recorded.
        Raises BusError if the broker refuses the batch; then the journal records nothing of the batch.
        """
        letters = b"".join(pack(">Q", letter) for letter in settled)
        packed = [message.published(self._source) for message in messages]
        return await self._publish(packed, letters=letters, flags=leased | transient << 4)

    async def _publish(
        self, messages: list[bytes], checkpoint: bytes = b"", rejection: bytes = b"", *, letters: bytes = b"",
        flags: int = 0,
    ) -> tuple[int, int]:  # fmt: skip
        flags |= bool(checkpoint) << 1 | bool(rejection) << 2 | bool(letters) << 3
        frames = [frame for frame in (checkpoint, rejection, letters) if frame]
        if any(size > 8 * 1024 * 1024 for size in (sum(map(len, messages)), *map(len, frames))):
            raise BusError(4, "a frame of the batch exceeds 8 MiB; publish fewer messages at a time")
        async with self._room:
            reply = await self._outbox.publish(flags, messages, frames)
        position = Reader(reply[0])
        return position.number(), position.number()

    @asynccontextmanager
    async def subscription(
        self, *types: str, subject: str | None = None, after: tuple[int, int] | None = None, retained: bool = False,
        with_problems: bool = False,
    ) -> AsyncIterator[Subscription]:  # fmt: skip
        """A subscription to `types` while the block runs. Each type is a `kind` or a `kind.Name`.

        The subscription starts now, or after the position `after` (epoch and offset; epoch 0 means any epoch). With
        `retained` the retained documents come first. Messages that cannot be read are skipped. If `with_problems` is
        true, they are not skipped and have a `problem`. Raises BusError (EPOCH) if the epoch of `after` is not the
        epoch of the journal.
        """
        filters = filters_of(types, subject)
        subscription = Subscription(self._page, filters, subject, after and after[1], retained, with_problems)
        async with self._connection.subscribed(subscription):
            if after and after[0] not in (0, self._connection.epoch):
                raise BusError(BusError.EPOCH, "the position is of another epoch; subscribe after (0, 0) to begin anew")
            yield subscription

    async def _page(self, operation: Operation, after: int, filters: list[str]) -> Any:
        """Reads a page for a subscription. Returns None if the subscription must try again."""
        epoch = self._connection.epoch
        try:
            page = await self._connection.page(operation, epoch, after, filters)
        except BusError as error:
            if error.code not in (BusError.EPOCH, BusError.JOURNAL):
                raise
            logger.warning("a page was refused: %s", error)
            await asyncio.sleep(1)
            return None
        return page if page.epoch == self._connection.epoch else None

    async def documents(self, *types: str, subject: str | None = None) -> list[Message]:
        """Returns the retained documents of `types`: the documents of all subjects, or of `subject` if it is given."""
        found: list[Message] = []
        after, is_complete = 0, False
        while not is_complete:
            page = await self._connection.page(Operation.DOCUMENTS, 0, after, filters_of(types, subject))
            found += [entry.message() for entry in page.entries]
            after, is_complete = page.through, page.is_complete
        for message in found:
            if message.problem:
                logger.warning("a document was skipped: %s", message.problem)
        return [message for message in found if not message.problem and subject in (None, message.subject)]

    # Durable consumers

    async def consume(
        self, consumer: str, types: Sequence[str], handler: Handler, *, shared: bool = True, attempts: int = 4
    ) -> None:
        """Calls `handler` for each message, and publishes its results and the progress in one batch.

        A message is moved to the dead letters if it cannot be read, if the handler fails in all `attempts`, or if the
        broker refuses the results. Runs until the task is cancelled. Raises BusError (FENCED) if another process has
        taken over an exclusive consumer.
        """
        member = os.urandom(16)
        try:
            await self._consume(consumer, member, types, handler, shared, attempts)
        finally:
            # The member leaves, so that others get its partitions. If this process continues to say hello, the broker
            # would otherwise not take the partitions from the member.
            body = claim_frame(self._outbox.producer, member, shared | LEAVING, consumer)
            await self._outbox.post(Operation.CLAIM, body)

    async def _consume(
        self, consumer: str, member: bytes, types: Sequence[str], handler: Handler, shared: bool, attempts: int
    ) -> None:
        while True:
            claim = await self._claim(consumer, member, shared)
            try:
                async with self.subscription(*types, after=claim.start, with_problems=True) as messages:
                    renewing = asyncio.create_task(self._renew(claim, member, shared, messages))
                    try:
                        async for message in messages:
                            if claim.covers(message):
                                await self._handle(message, claim, handler, attempts)
                    finally:
                        renewing.cancel()
                if not shared and renewing.result():
                    raise BusError(BusError.FENCED, f"another process has taken over the durable consumer '{consumer}'")
            except BusError as error:
                if error.code != BusError.EPOCH and not (shared and error.code == BusError.FENCED):
                    raise

    async def _handle(self, message: Message, claim: Claim, handler: Handler, attempts: int) -> None:
        results, rejection = await self._results(message, handler, attempts)
        while True:
            try:
                # Waits for the reply. If the batch is refused, a later checkpoint must not cover its message.
                await self._publish(results, claim.checkpoint(message, message.settled), rejection)
                return
            except BusError as error:
                if error.is_of_claim or not (results or rejection):
                    raise
                # Rejects the message. If retention has removed it, there is no dead letter, only a checkpoint.
                results, rejection = [], b"" if rejection else rejected(1, "handler.refused", str(error))

    async def _results(self, message: Message, handler: Handler, attempts: int) -> tuple[list[bytes], bytes]:
        """Returns the results to publish and the rejection, which is empty unless the message is given up."""
        if message.problem:
            return [], rejected(1, "message.malformed", message.problem)
        if message.is_expired:
            return [message.discarded().published(self._source)], b""
        rejection = b""
        for attempt in range(1, attempts + 1):
            try:
                return [result.published(self._source) for result in await handler(message)], b""
            except Exception as error:
                logger.warning("attempt %d to handle %s failed: %s", attempt, message.id, error)
                rejection = rejected(attempt, "handler.failed", str(error))
                if attempt < attempts:
                    await asyncio.sleep(0.1 * 4 ** (attempt - 1))
        return [], rejection

    async def _claim(self, consumer: str, member: bytes, shared: bool, is_renewal: bool = False) -> Claim:
        body = claim_frame(self._outbox.producer, member, shared | is_renewal * RENEWAL, consumer)
        return Claim.read(consumer, *await self._outbox.request(Operation.CLAIM, body))

    async def _renew(self, claim: Claim, member: bytes, shared: bool, messages: Subscription) -> bool:
        """Renews the claim and reports progress once a second. Ends `messages` when the claim no longer holds.

        Returns True if another member has claimed, False if the journal has a new epoch or has lost its end.
        """
        renewal, recorded, lost_ends = claim, 0, self._connection.lost_ends
        while claim.holds(renewal) and self._connection.lost_ends == lost_ends:
            try:
                # Reports progress beyond messages of other types. Otherwise retention would keep these messages, or the
                # broker would report them as lost.
                settled = messages.settled if claim.offsets else None
                if settled and settled > recorded:
                    await self._publish([], claim.progress(settled))
                    recorded = settled
            except BusError as error:
                logger.warning("the broker refused a checkpoint; the claim may have ended: %s", error)
            await asyncio.sleep(1)
            try:
                renewal = await self._claim(claim.consumer, member, shared, is_renewal=True)
            except BusError as error:
                logger.warning("a claim could not be renewed: %s", error)
        messages.end()
        # A renewal may report a new epoch before hello does.
        return renewal.epoch == claim.epoch and not claim.holds(renewal)

    async def dead_letters(self, consumer: str = "") -> list[DeadLetter]:
        """Returns the dead letters of a consumer, or of all consumers if the name is empty."""
        found: list[DeadLetter] = []
        is_complete = False
        while not is_complete:
            cursor = pack(">Q", found[-1].id if found else 0) + text(consumer)
            is_complete, letters = DeadLetter.read_all(*await self._outbox.request(Operation.LETTERS, cursor))
            found += letters
        return found

    async def resend(self, letter: DeadLetter) -> None:
        """Publishes the message of a dead letter again, for its consumer only, and settles the letter."""
        await self.publish(letter.resent(), settled=[letter.id])

    # Queries

    async def ask(self, query: Message, timeout: float = 5) -> Message:
        """Sends a query and returns the answer.

        `timeout` is the maximum wait in seconds. Raises BusError: UNSERVED, DEADLINE (after `timeout`) or CANCELLED.
        """
        body = pack(">I", int(timeout * 1000)), query.published(self._source)
        try:
            reply = await asyncio.wait_for(self._outbox.request(Operation.ASK, *body), timeout)
        except TimeoutError:
            raise BusError(BusError.DEADLINE, f"no answer in {timeout} s; ask again or with a longer timeout") from None
        answer = Reader(reply[0])
        return Message.read(answer.blob(), answer.blob(), origin=Origins(reply[1:]).next())

    async def serve(self, answers: dict[str, Answer]) -> None:
        """Serves these types of queries from now on, and no others. An empty dictionary ends the service."""
        self._answers = answers
        await self._register()

    async def _register(self) -> None:
        # Sends one request at a time, because an older request that is sent again would undo a newer one.
        async with self._registering:
            await self._outbox.request(Operation.SERVE, self._outbox.producer, *encoded(self._answers))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_serving())
            while True:
                number, query = await self._connection.notices.get()
                if query is None:
                    if task := self._queries.get(number):
                        task.cancel()
                elif number not in self._queries:
                    self._queries[number] = group.create_task(self._answer(number, query))

    async def _keep_serving(self) -> None:
        """Sends serve once a second, because a restarted broker has forgotten the services."""
        while True:
            await asyncio.sleep(1)
            if self._answers:
                await self._register()

    async def _answer(self, number: int, frames: list[bytes]) -> None:
        try:
            query = Message.read_published(*frames)
            if answer := self._answers.get(query.type):
                reply = query.causing(query.type, await answer(query))
                body = [pack(">QBH", number, 0, 0), reply.header_and_data(self._source)]
            else:
                body = [pack(">QB", number, BusError.UNSERVED) + text(f"this process does not serve {query.type}")]
        except Exception as error:
            logger.exception("a query could not be answered")
            body = [pack(">QB", number, BusError.CANCELLED) + text(str(error))]
        finally:
            self._queries.pop(number)
        await self._outbox.post(Operation.ANSWER, *body)
