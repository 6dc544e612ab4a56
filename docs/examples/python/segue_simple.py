"""The simple client of the Segue broker, which docs/wire-protocol.md explains. Needs Python 3.11 and pyzmq.

The client does one thing at a time, in one thread. Frames and sockets are in segue_wire.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import pack

import zmq

import segue_wire as wire
from segue_wire import BusError, Claim, Message, Operation, Page, Reader, Welcome, filters_of, rejected

Handler = Callable[[Message], Iterable[Message]]


class Bus:
    """A client with its own connection. `source` is the client's `name/instance`. Only one thread may use it."""

    def __init__(self, address: str, source: str) -> None:
        self.address, self.source, self.producer = address, source, os.urandom(16)
        self.epoch = self.seen = self.head = self.mark = self.start = self.sequence = self.last_id = 0
        self.next_hello = 0.0
        self.renew: Callable[[], None] | None = None
        self.ingress, self.feed = wire.sockets(zmq.Context(), address)

    def request(self, operation: Operation, *frames: bytes) -> list[bytes]:
        """Sends a request until it is answered, without a time limit.

        Raises BusError if the broker refuses the request. After a refusal with code 9, sends the request again instead.
        """
        self.last_id += 1
        head, delay, silence = wire.head(operation, self.last_id), 0.25, 0.0
        while True:
            try:
                self.ingress.send_multipart([head, *frames], zmq.NOBLOCK)
            except zmq.Again:
                pass  # There is no room.
            deadline = time.monotonic() + delay
            while self.ingress.poll(1000 * max(0, deadline - time.monotonic())):
                reply, status, *body = self.ingress.recv_multipart()
                if reply != head:
                    continue  # It is a second answer to an earlier request.
                if (code := status[0]) == 0:
                    return body
                if code != BusError.JOURNAL:
                    raise BusError(code, Reader(status[1:]).text())
                time.sleep(max(0, deadline - time.monotonic()))  # The journal cannot be written or read now.
            delay, silence = min(2 * delay, 2), silence + delay
            if silence > 10:  # The broker's machine may have gone without closing the connection.
                wire.reconnect(self.ingress, wire.endpoints(self.address)[0])
                silence = 0

    # Hello

    def hello(self) -> None:
        greeting = self.producer + pack(">QQQQB", self.epoch, self.seen, self.head, self.mark, 1)
        welcome = Welcome.read(*self.request(Operation.HELLO, greeting))
        self.epoch, self.start = welcome.epoch, welcome.start  # Another epoch means another journal.
        self.head, self.mark, self.seen = welcome.head, welcome.mark, welcome.head  # Lower if the end is lost.
        self.sequence = min(self.sequence, welcome.sequence)  # Lower if the broker has forgotten batches.
        self.next_hello = time.monotonic() + 1

    def keep_alive(self) -> None:
        """Sends hello and renews the claim if the last hello is a second old. A slow handler must call it every second.

        Raises BusError if the claim no longer holds.
        """
        if time.monotonic() >= self.next_hello:
            epoch, seen = self.epoch, self.seen
            self.hello()
            if self.renew:
                if self.epoch != epoch or self.seen < seen:
                    raise BusError(BusError.EPOCH, "the journal has a new epoch or has lost its end; claim again")
                self.renew()

    # Publishing

    def publish(self, *messages: Message) -> tuple[int, int]:
        """Publishes one batch, and returns the epoch and offset of its last message when the journal has recorded it.

        Raises BusError if the broker refuses the batch; then nothing of it is recorded.
        """
        return self.journal([message.published(self.source) for message in messages])

    def journal(self, messages: list[bytes], checkpoint: bytes = b"", rejection: bytes = b"") -> tuple[int, int]:
        while True:
            self.keep_alive()
            batch = wire.batch_frames(self.producer, self.sequence + 1, messages, checkpoint, rejection)
            self.sequence += 1
            try:
                position = Reader(*self.request(Operation.PUBLISH, *batch))
                return position.number(), position.number()
            except BusError as error:
                if error.code != BusError.SEQUENCE:
                    raise
                self.next_hello = 0  # The next hello corrects the sequence.

    # Reading

    def pages(self, filters: Sequence[str], epoch: int, after: int) -> Iterator[Page]:
        """Yields the pages after an offset, and waits for more at the end of the journal.

        Never ends. Raises BusError (EPOCH) if the offset is of another epoch or beyond the end of the journal.
        """
        for prefix in filters:
            self.feed.subscribe(prefix)
        while True:
            self.keep_alive()
            if epoch == self.epoch:
                after = min(after, self.seen)  # Lower if hello has just found that the end is lost.
            page = Page(*self.request(Operation.READ, pack(">QQ", epoch, after), *map(str.encode, filters)))
            epoch, after = page.epoch, page.through
            self.seen = max(self.seen, after)
            yield page
            if page.is_complete:
                self.wait(epoch, after)

    def wait(self, epoch: int, after: int) -> None:
        """Waits until there may be something to read.

        The packets are discarded before the next page is read: what is published during that read is a new signal.
        """
        while self.epoch == epoch and self.head <= after <= self.seen:
            if self.feed.poll(1000 * max(0, self.next_hello - time.monotonic())):
                break
            self.keep_alive()
        while self.feed.poll(0):
            self.feed.recv_multipart()

    def messages(self, *types: str, after: tuple[int, int] | None = None) -> Iterator[Message]:
        """Yields the messages after the position `after` (epoch, offset). If `after` is None, yields new messages only.

        (0, 0) is the beginning of the journal. Never ends.
        """
        self.hello()
        epoch, offset = after or (self.epoch, self.head)
        while True:
            try:
                for page in self.pages(filters_of(types), epoch, offset):
                    yield from page.readable_messages()
                    epoch, offset = page.epoch, page.through
            except BusError as error:
                if error.code != BusError.EPOCH:
                    raise
                self.hello()
                if epoch == self.epoch:  # The journal has lost its end.
                    offset = min(offset, self.head)
                else:  # There is another journal. Without `after`, its messages before `start` are skipped.
                    epoch, offset = self.epoch, 0 if after else self.start

    # Consuming durably

    def consume(
        self, name: str, types: Sequence[str], handler: Handler, shared: bool = True, now: bool = False
    ) -> None:
        """Calls the handler for each message, and publishes its results and the progress in one batch.

        `shared` members divide the messages among them. With `now` a new consumer skips the messages that the journal
        already has. Ends only with BusError, for instance if another process has taken over an exclusive consumer.
        """
        member = os.urandom(16)

        def ask(flags: int = 0) -> Claim:
            frame = wire.claim_frame(self.producer, member, shared | flags, name)
            return Claim.read(name, *self.request(Operation.CLAIM, frame))

        while True:
            try:
                self.hello()
                claim = ask()
                if now and claim.is_new:
                    self.journal([], claim.progress(self.head))
                    claim = ask()
                self.renew = lambda: claim.check(ask(wire.RENEWAL))
                self.work(claim, filters_of(types), handler)
            except BusError as error:
                if error.code != BusError.EPOCH and not (shared and error.code == BusError.FENCED):
                    raise
            finally:
                self.renew = None

    def work(self, claim: Claim, filters: Sequence[str], handler: Handler) -> None:
        """Handles the messages of a claim's partitions. After a page without one, records only the progress."""
        if not claim.start:
            return time.sleep(1)  # The member owns no partition: claim again.
        settled = claim.start[1]
        for page in self.pages(filters, *claim.start):
            messages = [message for message in page.messages if claim.covers(message)]
            for message in messages:
                self.handle(message, claim, handler)
            if not messages and page.through > settled:
                self.journal([], claim.progress(page.through))
            settled = page.through

    def handle(self, message: Message, claim: Claim, handler: Handler) -> None:
        results, rejection = self.results(message, handler)
        while True:
            try:
                self.journal(results, claim.checkpoint(message, settled=message.offset), rejection)
                return
            except BusError as error:
                if error.is_of_claim or not (results or rejection):
                    raise
                # Rejects the message. If retention has removed it, there is no dead letter, only a checkpoint.
                results, rejection = [], b"" if rejection else rejected(1, "handler.refused", str(error))

    def results(self, message: Message, handler: Handler) -> tuple[list[bytes], bytes]:
        """Returns the results to publish and the rejection, which is empty unless the message is given up."""
        if message.problem:
            return [], rejected(1, "message.malformed", message.problem)
        if message.is_expired:
            return [message.discarded().published(self.source)], b""
        for attempt, pause in enumerate((0.1, 0.4, 1.6, 0), 1):
            self.keep_alive()
            try:
                return [result.published(self.source) for result in handler(message)], b""
            except Exception as error:
                if isinstance(error, BusError) and error.is_of_claim:
                    raise
                rejection = rejected(attempt, "handler.failed", str(error))
                time.sleep(pause)
        return [], rejection
