"""The simple client at work: `python simple.py --help`. The bus is where SEGUE_BUS says."""

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
    """Publishes each line of the input, and prints the offset that it got."""
    for line in sys.stdin:
        print(bus.publish(Message(arguments.type, json.loads(line), arguments.subject))[1], flush=True)


def tail(bus: Bus, arguments: argparse.Namespace) -> None:
    """Prints messages as they come, from the journal's beginning or after an offset."""
    for message in islice(bus.messages(*arguments.types, after=(0, arguments.after)), arguments.count):
        show(message)


def consume(bus: Bus, arguments: argparse.Namespace) -> None:
    """Handles messages: answers each with an event of type --result. Data that says {"fail": true} fails."""

    def handle(message: Message) -> list[Message]:
        if isinstance(message.data, dict) and message.data.get("fail"):
            raise ValueError("the message asks to fail")
        show(message)
        return [message.causing(arguments.result, message.data)] if arguments.result else []

    bus.consume(arguments.consumer, arguments.types, handle, shared=not arguments.exclusive, now=arguments.now)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bus", default=os.environ.get("SEGUE_BUS"), help="ipc:///DIRECTORY or tcp://HOST:PORT")
    verbs = parser.add_subparsers(required=True)
    publishing, tailing, consuming = (verbs.add_parser(v.__name__, help=v.__doc__) for v in (publish, tail, consume))
    publishing.add_argument("type")
    publishing.add_argument("--subject", default="default")
    publishing.set_defaults(run=publish)
    tailing.add_argument("types", nargs="+")
    tailing.add_argument("--after", type=int, default=0)
    tailing.add_argument("--count", type=int)
    tailing.set_defaults(run=tail)
    consuming.add_argument("consumer")
    consuming.add_argument("types", nargs="+")
    consuming.add_argument("--result")
    consuming.add_argument("--exclusive", action="store_true", help="alone; shared with others unless said")
    consuming.add_argument("--now", action="store_true", help="a new consumer passes over what the journal has")
    consuming.set_defaults(run=consume)
    arguments = parser.parse_args()
    if not arguments.bus:
        parser.error("no bus: set SEGUE_BUS or --bus")
    return arguments


if __name__ == "__main__":
    arguments = parse()
    try:
        arguments.run(Bus(arguments.bus, f"simple/{os.getpid()}"), arguments)
    except BusError as error:
        sys.exit(f"simple.py: {error}")
    except KeyboardInterrupt:
        pass
