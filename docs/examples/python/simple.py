"""Publishes, reads and handles messages with the simple client.

    export SEGUE_BUS=ipc:///tmp/example-bus
    echo '{"number": 1}' | python simple.py publish command.Work
    python simple.py tail command.Work --count 1
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from itertools import islice

from segue_simple import Bus
from segue_wire import BusError, Message


def show(message: Message) -> None:
    fields = {"offset": message.offset, "type": message.type, "subject": message.subject, "data": message.data}
    print(json.dumps(fields), flush=True)


def publish(bus: Bus, arguments: argparse.Namespace) -> None:
    """Publishes a message for each line of standard input, and prints the offset of the message in the journal."""
    for line in sys.stdin:
        print(bus.publish(Message(arguments.type, json.loads(line), arguments.session))[1], flush=True)


def tail(bus: Bus, arguments: argparse.Namespace) -> None:
    """Prints the messages of the journal from its beginning, then new ones as they arrive."""
    for message in islice(bus.messages(*arguments.types, after=(0, arguments.after)), arguments.count):
        show(message)


def consume(bus: Bus, arguments: argparse.Namespace) -> None:
    """Handles messages, and publishes an event of type --result for each. Fails if the data is {"fail": true}."""

    def handle(message: Message) -> list[Message]:
        if isinstance(message.data, dict) and message.data.get("fail"):
            raise ValueError("the message asks to fail")
        show(message)
        return [message.causing(arguments.result, message.data)] if arguments.result else []

    bus.consume(arguments.consumer, arguments.types, handle, shared=not arguments.exclusive, now=arguments.now)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    address = "ipc:///DIRECTORY or tcp://HOST:PORT (default: the value of SEGUE_BUS)"
    parser.add_argument("--bus", default=os.environ.get("SEGUE_BUS"), help=address)
    verbs = parser.add_subparsers(required=True)
    publishing, tailing, consuming = (
        verbs.add_parser(verb.__name__, help=verb.__doc__, description=verb.__doc__)
        for verb in (publish, tail, consume)
    )
    publishing.add_argument("type", help="the type of the messages, such as command.Work")
    publishing.add_argument("--session", "--subject", default="default", help="the session (default: default)")
    publishing.set_defaults(run=publish)
    tailing.add_argument("types", nargs="+", help="kinds or types of messages, such as event or command.Work")
    tailing.add_argument("--after", type=int, default=0, help="start after this offset (default: 0, the beginning)")
    tailing.add_argument("--count", type=int, help="end after this number of messages (default: never)")
    tailing.set_defaults(run=tail)
    consuming.add_argument("consumer", help="the name of the durable consumer")
    consuming.add_argument("types", nargs="+", help="kinds or types of messages, such as command.Work")
    consuming.add_argument("--result", help="the type of the event to publish for each message (default: no event)")
    exclusive = "be the only member (default: share the work with other members)"
    consuming.add_argument("--exclusive", action="store_true", help=exclusive)
    consuming.add_argument("--now", action="store_true", help="a new consumer skips the messages that the journal has")
    consuming.set_defaults(run=consume)
    arguments = parser.parse_args()
    if not arguments.bus:
        parser.error("the bus address is missing; set SEGUE_BUS or --bus, for instance to ipc:///tmp/example-bus")
    return arguments


if __name__ == "__main__":
    arguments = parse()
    try:
        arguments.run(Bus(arguments.bus, f"simple/{os.getpid()}"), arguments)
    except BusError as error:
        sys.exit(f"simple.py: {error}")
    except KeyboardInterrupt:
        pass
