"""The frames and sockets that docs/wire-protocol.md describes. Both clients use this module."""

from __future__ import annotations

import json
import logging
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from struct import pack, unpack
from typing import Any, NamedTuple

import zmq

logger = logging.getLogger("segue")

RENEWAL, LEAVING = 2, 4  # Flags of a claim, which may be added to flag 1, a shared member.


class Operation(IntEnum):
    HELLO, PUBLISH, READ, HEADS, DOCUMENTS, CLAIM, BYE, LOCATE, LETTERS, SERVE, ASK, ANSWER, QUERY, CANCEL = range(
        1, 15
    )


class BusError(Exception):
    """The broker or this client has refused a request. For the codes see docs/wire-protocol.md, section "Codes"."""

    MALFORMED, LIMIT = 1, 4
    SEQUENCE, FENCED, EPOCH, JOURNAL, UNSERVED, DEADLINE, CANCELLED = 6, 7, 8, 9, 10, 11, 12

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code

    @property
    def is_of_claim(self) -> bool:
        """True if the claim no longer holds: another owner has the partition, or the journal has lost the offset."""
        return self.code in (BusError.FENCED, BusError.EPOCH)


def text(value: str) -> bytes:
    encoded = value.encode()
    return pack(">H", len(encoded)) + encoded


def blob(value: bytes) -> bytes:
    return pack(">I", len(value)) + value


class Reader:
    """Reads the fields of a frame in order. Raises ValueError if the frame ends within a field."""

    def __init__(self, frame: bytes) -> None:
        self.rest = memoryview(frame)

    def take(self, count: int) -> bytes:
        if len(self.rest) < count:
            raise ValueError("a frame ends before its last field")
        taken, self.rest = bytes(self.rest[:count]), self.rest[count:]
        return taken

    def number(self, size: int = 8) -> int:
        return int.from_bytes(self.take(size), "big")

    def text(self) -> str:
        return self.take(self.number(2)).decode()

    def blob(self) -> bytes:
        return self.take(self.number(4))


class Origin(NamedTuple):
    """The session and the publisher of a message as the broker has verified them. Both are empty if it has not."""

    session: str = ""
    publisher: str = ""


class Origins:
    """Reads the origins of messages one after another, from the last frame that a bus with keys sends."""

    def __init__(self, frames: Sequence[bytes]) -> None:
        self.reader = Reader(frames[0]) if frames else None

    def next(self) -> Origin:
        return Origin(self.reader.text(), self.reader.text()) if self.reader else Origin()


def timestamp(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rejected(attempts: int, code: str, reason: str) -> bytes:
    """The frame that moves the message of a checkpoint to the dead letters, with at most 500 characters of `reason`."""
    return pack(">H", attempts) + text(code) + text(reason[:500])


def partition(subject: str) -> int:
    value = 0xCBF29CE484222325
    for byte in subject.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value % 64


def endpoints(address: str) -> tuple[str, str]:
    """The endpoints of the ingress and of the feed."""
    if not address.startswith("tcp://"):
        return f"{address}/ingress", f"{address}/feed"
    host, port = address.rsplit(":", 1)
    return address, f"{host}:{int(port) + 1}"


def sockets(context: zmq.Context[Any], address: str, room: int = 1000) -> tuple[Any, Any]:
    """Connects the ingress and the feed, and returns both. The feed queues at most `room` packets and drops others."""
    ingress, feed = context.socket(zmq.DEALER), context.socket(zmq.SUB)
    feed.setsockopt(zmq.SNDHWM, 0)
    feed.setsockopt(zmq.RCVHWM, room)
    path = os.environ.get("SEGUE_BUS_CURVE")
    keys = json.loads(Path(path).read_text()) if path else None
    for socket, endpoint in zip((ingress, feed), endpoints(address), strict=True):
        if keys:
            socket.curve_serverkey = keys["brokerKey"].encode()
            socket.curve_publickey, socket.curve_secretkey = keys["publicKey"].encode(), keys["secretKey"].encode()
        for option, value in ((zmq.LINGER, 500), (zmq.TCP_KEEPALIVE, 1), (zmq.TCP_KEEPALIVE_IDLE, 15)):
            socket.setsockopt(option, value)
        socket.connect(endpoint)
    return ingress, feed


def reconnect(socket: Any, endpoint: str) -> None:
    """Renews a connection. Its other end may have gone without closing the connection."""
    socket.disconnect(endpoint)
    socket.connect(endpoint)


def head(operation: Operation, id: int) -> bytes:
    """The first frame of a request and of its reply."""
    return b"SG\x01" + pack(">BQ", operation, id)


class Welcome(NamedTuple):
    """The content of the reply to a long hello."""

    epoch: int
    head: int
    sequence: int
    mark: int
    start: int
    leased: int

    @staticmethod
    def read(frame: bytes) -> Welcome:
        return Welcome(*unpack(">6Q", frame[:48]))


def batch_frames(
    producer: bytes, sequence: int, messages: Sequence[bytes], checkpoint: bytes = b"", rejection: bytes = b""
) -> list[bytes]:
    flags, count = 2 * bool(checkpoint) + 4 * bool(rejection), min(len(messages), 0xFFFF)
    frames = [frame for frame in (checkpoint, rejection, b"".join(messages)) if frame]
    if any(len(frame) > 8 * 1024 * 1024 for frame in frames):
        raise BusError(BusError.LIMIT, "the messages of a batch exceed 8 MiB together; publish fewer at a time")
    return [producer + pack(">QBH", sequence, flags, count), *frames]


def claim_frame(producer: bytes, member: bytes, flags: int, consumer: str) -> bytes:
    return producer + member + pack(">B", flags) + text(consumer)


def filters_of(types: Iterable[str], subject: str | None = None) -> list[str]:
    """Returns a filter for each kind (`event`) or type (`event.Name`).

    With a subject, the filter of a type matches only the partition of that subject.
    """
    return [f"{t}.{partition(subject):02x}" if subject is not None and "." in t else f"{t}." for t in types]


@dataclass(frozen=True)
class Message:
    """A message. `data` is any JSON value. A document whose `data` is None is withdrawn."""

    type: str
    data: Any = None
    subject: str = "default"
    key: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    epoch: int = 0
    offset: int = 0
    # The offset up to which all messages are handled when this message is handled. Set by a subscription.
    settled: int = 0
    topic: str = ""  # Empty unless the message was received.
    # The reason why a received message cannot be read. Empty if the message can be read. An unreadable message has only
    # a type, a topic and a position.
    problem: str = ""

    @property
    def partition(self) -> int:
        return int(self.topic[-2:], 16) if self.topic else partition(self.subject)

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    @property
    def is_expired(self) -> bool:
        """True if the message has an `expirytime` that has passed."""
        expiry = self.attributes.get("expirytime")
        return expiry is not None and datetime.fromisoformat(expiry) < datetime.now(UTC)

    def discarded(self) -> Message:
        """The event to publish instead of the results of an expired command."""
        return self.causing("event.MessageDiscarded", {"messageID": self.id, "reason": "expired"})

    def causing(self, type: str, data: Any = None, key: str = "") -> Message:
        """A message with this one as its cause, and with its subject. Attributes over 255 bytes are not inherited."""
        inherited = ("correlationid", "traceparent", "platform", "device", "instance")
        attributes = {name: self.attributes[name] for name in inherited if name in self.attributes}
        attributes = {name: value for name, value in attributes.items() if len(value.encode()) <= 255}
        return Message(type, data, self.subject, key, attributes | {"causationid": self.id})

    def header_and_data(self, source: str) -> bytes:
        """The header and the data, as two blobs. Adds `id`, `time` and `correlationid` unless `attributes` has them."""
        new = str(uuid.uuid4())
        now = timestamp(datetime.now(UTC))
        header = {"id": new, "source": source, "time": now, "correlationid": new} | self.attributes
        header |= {"specversion": "1.0", "type": self.type, "subject": self.subject}
        if self.key:
            header["key"] = self.key
        data = b"" if self.data is None else json.dumps(self.data).encode()
        return blob(json.dumps(header).encode()) + blob(data)

    def published(self, source: str) -> bytes:
        topic = f"{self.type}.{partition(self.subject):02x}"
        return text(topic) + text(self.subject) + text(self.key) + self.header_and_data(source)

    @staticmethod
    def read(header: bytes, data: bytes, epoch: int = 0, offset: int = 0, origin: Origin = Origin()) -> Message:
        attributes = json.loads(header)
        if not isinstance(attributes, dict) or attributes.get("specversion") != "1.0":
            raise ValueError("the header is not a JSON object of CloudEvents 1.0")
        for name in ("id", "source", "type", *attributes):
            if not isinstance(attributes.get(name), str):
                raise ValueError(f"the header's '{name}' is missing or not a string")
        for name in ("time", "expirytime"):
            if name in attributes and datetime.fromisoformat(attributes[name]).tzinfo is None:
                raise ValueError(f"the header's '{name}' has no time zone")
        if origin.publisher:
            _, slash, instance = attributes["source"].partition("/")
            attributes |= {"subject": origin.session, "source": origin.publisher + slash + instance}
        return Message(
            attributes["type"],
            json.loads(data) if data else None,
            attributes.get("subject", "default"),
            attributes.get("key", ""),
            attributes,
            epoch,
            offset,
        )

    @staticmethod
    def read_published(frame: bytes, *origins: bytes) -> Message:
        reader = Reader(frame)
        for _ in ("topic", "subject", "key"):
            reader.text()
        return Message.read(reader.blob(), reader.blob(), origin=Origins(origins).next())


@dataclass(frozen=True)
class Entry:
    """A received message before its header and data are parsed. The broker has not checked the header and the data."""

    topic: str
    epoch: int
    offset: int
    header: bytes
    data: bytes
    origin: Origin

    @staticmethod
    def read(reader: Reader, epoch: int, origins: Origins) -> Entry:
        topic, offset, _ = reader.text(), reader.number(), reader.number()
        return Entry(topic, epoch, offset, reader.blob(), reader.blob(), origins.next())

    def message(self) -> Message:
        """Parses the message. If that fails, returns a message with only type, topic, position and `problem`."""
        try:
            message = Message.read(self.header, self.data, self.epoch, self.offset, self.origin)
            if f"{message.type}.{partition(message.subject):02x}" != self.topic:
                raise ValueError(f"its topic is not that of {ascii(message.type)} and {ascii(message.subject)}")
            return replace(message, topic=self.topic)
        except (ValueError, RecursionError) as error:
            problem = f"at {self.offset} on {self.topic}: {error}"[:500]
            return Message(self.topic[:-3], epoch=self.epoch, offset=self.offset, topic=self.topic, problem=problem)


class Page:
    def __init__(self, extent: bytes, messages: bytes, *frames: bytes) -> None:
        reader, origins = Reader(extent), Origins(frames)
        self.epoch, self.through, self.is_complete = reader.number(), reader.number(), reader.number(1) == 1
        for offset in _all(reader, Reader.number):
            logger.error("the journal is damaged at offset %d; that message is skipped", offset)
        self.entries = list(_all(Reader(messages), lambda rest: Entry.read(rest, self.epoch, origins)))

    @property
    def messages(self) -> list[Message]:
        return [entry.message() for entry in self.entries]

    def readable_messages(self) -> Iterator[Message]:
        for message in self.messages:
            if message.problem:
                logger.warning("a message was skipped: %s", message.problem)
            else:
                yield message


@dataclass(frozen=True)
class DeadLetter:
    id: int
    time: int
    consumer: str
    attempts: int
    code: str
    reason: str
    entry: Entry

    @staticmethod
    def read_all(extent: bytes, letters: bytes, *frames: bytes) -> tuple[bool, list[DeadLetter]]:
        """Returns True if no more dead letters follow, and the dead letters."""
        reader, origins = Reader(extent), Origins(frames)
        is_complete, epoch = reader.number(1) == 1, reader.number()
        return is_complete, list(_all(Reader(letters), lambda rest: DeadLetter._read(rest, epoch, origins)))

    @staticmethod
    def _read(reader: Reader, epoch: int, origins: Origins) -> DeadLetter:
        id, time, consumer = reader.number(), reader.number(), reader.text()
        attempts, code, reason = reader.number(2), reader.text(), reader.text()
        return DeadLetter(id, time, consumer, attempts, code, reason, Entry.read(reader, epoch, origins))

    def resent(self) -> Message:
        """A new message with the same content. Only the consumer of this dead letter handles it.

        If the message has an `expirytime`, the new message expires after the same lifetime, counted from now. Raises
        ValueError if the message cannot be read.
        """
        message = self.entry.message()
        if message.problem:
            raise ValueError(message.problem)
        attributes = {name: value for name, value in message.attributes.items() if name not in ("id", "time")}
        if expiry := attributes.get("expirytime"):
            published = message.attributes.get("time", expiry)
            lifetime = datetime.fromisoformat(expiry) - datetime.fromisoformat(published)
            attributes["expirytime"] = timestamp(datetime.now(UTC) + lifetime)
        return replace(message, attributes=attributes | {"recipient": self.consumer, "causationid": message.id})


@dataclass(frozen=True)
class Claim:
    """The partitions that a member of a durable consumer owns, and the offsets up to which they are handled."""

    consumer: str
    owner_generation: int
    epoch: int
    offsets: dict[int, int]

    @staticmethod
    def read(consumer: str, ownership: bytes, *cut_offs: bytes) -> Claim:
        for reader in map(Reader, cut_offs):
            first, last, count, type = reader.number(), reader.number(), reader.number(), reader.text()
            logger.error(
                "retention removed %d messages of type %s between the offsets %d and %d before they were handled",
                count, type, first, last,
            )  # fmt: skip
        reader = Reader(ownership)
        owner_generation, epoch = reader.number(), reader.number()
        return Claim(consumer, owner_generation, epoch, dict(_all(reader, lambda rest: (rest.number(1), rest.number()))))

    @property
    def start(self) -> tuple[int, int] | None:
        """The position after which to read: epoch and lowest offset. None if the member owns no partition."""
        return (self.epoch, min(self.offsets.values())) if self.offsets else None

    def holds(self, renewal: Claim) -> bool:
        """True if a renewal has the same owner generation, epoch and partitions. Its offsets may be higher."""
        ours, theirs = (self.owner_generation, self.epoch), (renewal.owner_generation, renewal.epoch)
        return ours == theirs and self.offsets.keys() == renewal.offsets.keys()

    def check(self, renewal: Claim) -> None:
        """Raises BusError (FENCED or EPOCH) if the claim no longer holds."""
        if not self.holds(renewal):
            code = BusError.FENCED if renewal.epoch == self.epoch else BusError.EPOCH
            raise BusError(
                code,
                f"the claim of '{self.consumer}' has ended: "
                "another process has claimed or left, or the journal has a new epoch",
            )

    def covers(self, message: Message) -> bool:
        """True if the member must handle the message: it owns its partition, and has not handled the message yet.

        False for a message whose `recipient` is another consumer.
        """
        is_new = message.epoch == self.epoch and message.offset > self.offsets.get(message.partition, 2**64)
        return is_new and message.attributes.get("recipient", self.consumer) == self.consumer

    @property
    def is_new(self) -> bool:
        """True if the member owns all partitions, and the consumer has made no progress in any of them."""
        return len(self.offsets) == 64 and not any(self.offsets.values())

    def checkpoint(self, message: Message, settled: int) -> bytes:
        return self._checkpoint(message.epoch, message.offset, settled, message.partition)

    def progress(self, settled: int) -> bytes:
        """A checkpoint for all owned partitions: everything up to `settled` is handled."""
        return self._checkpoint(self.epoch, settled, settled, 0xFF)

    def _checkpoint(self, *numbers: int) -> bytes:
        return text(self.consumer) + pack(">QQQQB", self.owner_generation, *numbers)


def _all(reader: Reader, read: Any) -> Iterator[Any]:
    while reader.rest:
        yield read(reader)
