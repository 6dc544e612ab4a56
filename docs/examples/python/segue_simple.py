"""A simple client of the Segue broker, which docs/wire-protocol.md explains part by part. Needs Python 3.11 and pyzmq.

It does one thing at a time, in one thread. Its messages and frames are those of segue_wire.py.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import pack

import zmq

from segue_wire import BusError, Claim, Message, Operation, Page, Reader, endpoints, filters_of, rejected, text

Handler = Callable[[Message], Iterable[Message]]
RENEWAL = 2


class Bus:
    def __init__(self, address: str, source: str) -> None:
        self.source, self.producer, self.sequence = source, os.urandom(16), 0
        self.epoch = self.seen = self.head = self.mark = self.start = 0
        self.last_id, self.next_hello = 0, 0.0
        self.filters: set[str] = set()
        self.renew: Callable[[], None] | None = None
        self.endpoints = endpoints(address)
        self.context = zmq.Context()
        self.ingress, self.feed = self.context.socket(zmq.DEALER), self.context.socket(zmq.SUB)
        self.ingress.setsockopt(zmq.IMMEDIATE, 1)
        self.feed.setsockopt(zmq.SNDHWM, 0)
        for socket, endpoint in zip((self.ingress, self.feed), self.endpoints, strict=True):
            for option, value in ((zmq.LINGER, 0), (zmq.TCP_KEEPALIVE, 1), (zmq.TCP_KEEPALIVE_IDLE, 15)):
                socket.setsockopt(option, value)
            socket.connect(endpoint)

    def request(self, operation: Operation, *frames: bytes) -> list[bytes]:
        """Sends a request until it is answered, however long the broker is away. Raises BusError when it is refused."""
        self.last_id += 1
        head, delay, silence = b"SG\x01" + pack(">BQ", operation, self.last_id), 0.25, 0.0
        while True:
            try:
                self.ingress.send_multipart([head, *frames], zmq.NOBLOCK)
            except zmq.Again:
                pass  # There is no connection, or no room.
            deadline = time.monotonic() + delay
            while self.ingress.poll(1000 * max(0, deadline - time.monotonic())):
                reply, status, *body = self.ingress.recv_multipart()
                if reply != head:
                    continue  # It answers an earlier request a second time.
                if (code := status[0]) not in (0, BusError.JOURNAL):
                    raise BusError(code, Reader(status[1:]).text())
                if code == 0:
                    return body
                time.sleep(max(0, deadline - time.monotonic()))  # The journal cannot be written or read now.
            delay, silence = min(2 * delay, 2), silence + delay
            if silence > 10:  # The machine at the other end may be gone without a word.
                self.ingress.disconnect(self.endpoints[0])
                self.ingress.connect(self.endpoints[0])
                silence = 0

    # Living

    def hello(self) -> None:
        greeting = self.producer + pack(">QQQQ", self.epoch, self.seen, self.head, self.mark)
        try:
            [reply] = self.request(Operation.HELLO, greeting + b"\x01")
        except BusError as error:
            if error.code != BusError.MALFORMED:
                raise
            [reply] = self.request(Operation.HELLO, greeting)  # An old broker knows no long hello.
        welcome = Reader(reply)
        epoch, head, sequence, mark = (welcome.number() for _ in range(4))
        self.epoch = epoch  # Another one is another journal, or the same one without its end.
        self.head, self.mark, self.seen = head, mark, head  # Less than before when the journal has lost its end.
        self.sequence = min(self.sequence, sequence)  # Less when the broker has forgotten batches.
        self.start = welcome.number() if welcome.rest else 0  # What comes before is of earlier epochs.
        self.next_hello = time.monotonic() + 1

    def keep_alive(self) -> None:
        """To be called every second or two; a slow handler does so itself."""
        if time.monotonic() >= self.next_hello:
            epoch, seen = self.epoch, self.seen
            self.hello()
            if self.renew:
                if self.epoch != epoch or self.seen < seen:
                    raise BusError(BusError.EPOCH, "the journal is another one, or has lost its end: claim again")
                self.renew()

    # Publishing

    def publish(self, *messages: Message) -> tuple[int, int]:
        """Returns epoch and offset of the last message when all are journalled. Raises BusError when none is."""
        return self.journal([message.published(self.source) for message in messages])

    def journal(self, messages: list[bytes], checkpoint: bytes = b"", rejection: bytes = b"") -> tuple[int, int]:
        flags, count = 2 * bool(checkpoint) + 4 * bool(rejection), min(len(messages), 0xFFFF)
        frames = [frame for frame in (checkpoint, rejection, b"".join(messages)) if frame]
        if any(len(frame) > 8 * 1024 * 1024 for frame in frames):
            raise BusError(4, "all messages of a batch have at most 8 MiB together")
        while True:
            self.keep_alive()
            batch = self.producer + pack(">QBH", self.sequence + 1, flags, count)
            try:
                position = Reader(self.request(Operation.PUBLISH, batch, *frames)[0])
            except BusError as error:
                if error.code != BusError.SEQUENCE:
                    self.sequence += 1
                    raise
                self.next_hello = 0  # Hello tells which batch the broker expects.
            else:
                self.sequence += 1
                return position.number(), position.number()

    # Reading

    def page(self, filters: Sequence[str], epoch: int, after: int) -> Page:
        self.keep_alive()
        if epoch == self.epoch:
            after = min(after, self.seen)  # Hello may just have told that the journal has lost its end.
        page = Page(*self.request(Operation.READ, pack(">QQ", epoch, after), *(prefix.encode() for prefix in filters)))
        for offset in page.damaged:
            logging.error("the message at %d is damaged: nobody can read it", offset)
        self.seen = max(self.seen, page.through)
        return page

    def pages(self, filters: Sequence[str], epoch: int, after: int) -> Iterator[Page]:
        """All pages after an offset, for ever. Raises BusError (EPOCH) when the offset is none of the journal's."""
        for prefix in set(filters) - self.filters:
            self.feed.subscribe(prefix)
        self.filters |= set(filters)
        has_rung, losses = True, 0
        while True:
            page = self.page(filters, epoch, after)
            epoch, after = page.epoch, page.through
            losses = 0 if has_rung else losses + bool(page.entries)
            if losses == 2:  # Hello has told twice of what the feed did not bring.
                self.feed.disconnect(self.endpoints[1])
                self.feed.connect(self.endpoints[1])
                losses = 0
            yield page
            if page.is_complete:
                has_rung = self.wait(epoch, after)

    def wait(self, epoch: int, after: int) -> bool:
        """Waits until there may be something to read. Returns whether it was the feed that said so."""
        while self.epoch == epoch and self.head <= after <= self.seen:
            if self.feed.poll(1000 * max(0, self.next_hello - time.monotonic())):
                while self.feed.poll(0):
                    self.feed.recv_multipart()
                return True
            self.keep_alive()
        return self.feed.poll(0) > 0

    def messages(self, *types: str, after: tuple[int, int] | None = None) -> Iterator[Message]:
        """Messages after (epoch, offset), where (0, 0) is the journal's beginning; or those from now on."""
        self.hello()
        epoch, offset = after or (self.epoch, self.head)
        while True:
            try:
                for page in self.pages(filters_of(types, None), epoch, offset):
                    for message in (entry.message() for entry in page.entries):
                        if message.problem:
                            logging.warning("a message was skipped: %s", message.problem)
                        else:
                            yield message
                    epoch, offset = page.epoch, page.through
            except BusError as error:
                if error.code != BusError.EPOCH:
                    raise
                self.hello()
                if epoch == self.epoch:  # The journal has lost its end.
                    offset = min(offset, self.head)
                else:  # There is another journal; who began now has no use for what was there before it.
                    epoch, offset = self.epoch, 0 if after else self.start

    # Consuming durably

    def consume(
        self, name: str, types: Sequence[str], handler: Handler, shared: bool = True, now: bool = False
    ) -> None:
        """Hands each message to the handler, and publishes what it returns together with the progress made.

        Ends only by raising BusError: FENCED when an exclusive consumer was taken over.
        """
        member = os.urandom(16)

        def ask(flags: int = 0) -> Claim:
            body = self.producer + member + pack(">B", shared | flags) + text(name)
            return Claim.read(name, *self.request(Operation.CLAIM, body))

        def renew() -> None:
            if not claim.holds(renewal := ask(RENEWAL)):
                code = BusError.FENCED if renewal.epoch == claim.epoch else BusError.EPOCH
                raise BusError(code, f"another process has taken over what this one had of {name}")

        while True:
            try:
                self.hello()
                claim = ask()
                if now and claim.is_new:
                    self.journal([], claim.progress(self.head))
                    claim = ask()
                self.renew = renew
                self.work(claim, filters_of(types, None), handler)
            except BusError as error:
                self.renew = None
                if error.code != BusError.EPOCH and not (shared and error.code == BusError.FENCED):
                    raise

    def work(self, claim: Claim, filters: Sequence[str], handler: Handler) -> None:
        if not claim.start:
            return time.sleep(1)  # Nothing is owned: claim again.
        settled = claim.start[1]
        for page in self.pages(filters, *claim.start):
            messages = [message for message in (entry.message() for entry in page.entries) if claim.covers(message)]
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
                if error.code in (BusError.FENCED, BusError.EPOCH) or not (results or rejection):
                    raise
                # A dead letter instead of the results; not even that if retention has removed the message.
                results, rejection = [], b"" if rejection else rejected(1, "handler.refused", str(error))

    def results(self, message: Message, handler: Handler) -> tuple[list[bytes], bytes]:
        """What is to be published, or why the message is given up."""
        if message.problem:
            return [], rejected(1, "message.malformed", message.problem)
        if message.is_expired:
            return [message.discarded().published(self.source)], b""
        rejection = b""
        for attempt, pause in enumerate((0.1, 0.4, 1.6, 0), 1):
            self.keep_alive()
            try:
                return [result.published(self.source) for result in handler(message)], b""
            except Exception as error:
                if isinstance(error, BusError) and error.code in (BusError.FENCED, BusError.EPOCH):
                    raise
                rejection = rejected(attempt, "handler.failed", str(error))
                time.sleep(pause)
        return [], rejection
