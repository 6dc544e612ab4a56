"""Publishes, reads and handles messages with the fast client.

    export SEGUE_BUS=ipc:///tmp/example-bus
    python bus.py publish event.LaunchFinished --data '{}'
    python bus.py tail event.LaunchFinished --beginning --count 1
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable

from segue_client import Bus, connect
from segue_wire import BusError, Message

Verb = Callable[[Bus, argparse.Namespace], Awaitable[None]]

HELP = {
    "type": "the type of the message, such as event.LaunchFinished or query.Songs",
    "types": "kinds or types of messages, such as event or event.LaunchFinished",
    "consumer": "the name of the durable consumer",
    "--consumer": "only the dead letters of this consumer (default: the dead letters of all consumers)",
    "--data": "the data of the message, as JSON (default: standard input, or {} for a query)",
    "--result": "the type of the event to publish for each message (default: no event)",
}


def show(message: Message) -> None:
    fields = {"offset": message.offset, "type": message.type, "subject": message.subject, "data": message.data}
    print(json.dumps(fields), flush=True)


async def publish(bus: Bus, arguments: argparse.Namespace) -> None:
    """Publishes a message with the data of --data, or one for each line of standard input."""
    lines = [arguments.data] if arguments.data else [line for line in sys.stdin if line.strip()]
    messages = [Message(arguments.type, json.loads(line), arguments.session) for line in lines]
    await asyncio.gather(*(bus.publish(message, transient=arguments.transient) for message in messages))


async def tail(bus: Bus, arguments: argparse.Namespace) -> None:
    """Prints messages as they arrive, one JSON object on each line."""
    start = (0, 0) if arguments.beginning else None
    async with bus.subscription(*arguments.types, after=start, retained=arguments.retained) as messages:
        print("live", file=sys.stderr, flush=True)
        count = 0
        async for message in messages:
            show(message)
            count += 1
            if count == arguments.count:
                return


async def documents(bus: Bus, arguments: argparse.Namespace) -> None:
    """Prints the retained documents, one JSON object on each line."""
    for message in await bus.documents(*arguments.types):
        show(message)


async def consume(bus: Bus, arguments: argparse.Namespace) -> None:
    """Handles messages, and publishes an event of type --result for each. Fails if the data is {"fail": true}."""

    async def handle(message: Message) -> list[Message]:
        if isinstance(message.data, dict) and message.data.get("fail"):
            raise ValueError("the message asks to fail")
        show(message)
        return [message.causing(arguments.result, message.data)] if arguments.result else []

    await bus.consume(arguments.consumer, arguments.types, handle, shared=not arguments.exclusive)


async def ask(bus: Bus, arguments: argparse.Namespace) -> None:
    """Asks a query and prints its answer."""
    show(await bus.ask(Message(arguments.type, json.loads(arguments.data or "{}")), arguments.timeout))


async def serve(bus: Bus, arguments: argparse.Namespace) -> None:
    """Serves queries. The answer to a query contains the query's data."""

    async def answer(query: Message) -> object:
        return {"echo": query.data}

    await bus.serve({type: answer for type in arguments.types})
    print("serving", file=sys.stderr, flush=True)
    await asyncio.Event().wait()


async def announce(bus: Bus, arguments: argparse.Namespace) -> None:
    """Shows this process in `segue services`, with its metrics. It handles no messages."""
    instance = str(os.getpid())
    types: dict[str, list[str]] = {"receives": [], "sends": []}
    presence = {"name": "python", "version": "1", "instance": instance, "pid": os.getpid(), **types}
    metrics = {"instance": instance, "handled": 0, "failed": 0, "lag": 0}
    async with bus.subscription("event.MetricsRequested") as requests:
        await bus.publish(Message("document.Presence", presence, key=instance), leased=True)
        print("announced", file=sys.stderr, flush=True)
        async for _ in requests:
            await bus.publish(Message("event.MetricsReported", metrics), transient=True)


async def dead(bus: Bus, arguments: argparse.Namespace) -> None:
    """Lists the dead letters. With --resend, also publishes their messages again."""
    for letter in await bus.dead_letters(arguments.consumer or ""):
        message = letter.entry.message()
        result = f"{letter.code} after {letter.attempts} attempts: {letter.reason}"
        print(f"{letter.id} {letter.consumer} {message.type} {result}")
        if arguments.resend and not message.problem:
            await bus.resend(letter)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    address = "ipc:///DIRECTORY or tcp://HOST:PORT (default: the value of SEGUE_BUS)"
    parser.add_argument("--bus", default=os.environ.get("SEGUE_BUS"), help=address)
    verbs = parser.add_subparsers(required=True)

    def verb(run: Verb, *arguments: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(run.__name__, help=run.__doc__, description=run.__doc__)
        added.set_defaults(run=run)
        for argument in arguments:
            added.add_argument(argument, nargs="+" if argument == "types" else None, help=HELP[argument])
        return added

    publishing = verb(publish, "type", "--data")
    publishing.add_argument("--session", "--subject", default="default", help="the session (default: default)")
    publishing.add_argument("--transient", action="store_true", help="send the messages without recording them")
    tailing = verb(tail, "types")
    tailing.add_argument("--beginning", action="store_true", help="start with the oldest message (default: now)")
    tailing.add_argument("--retained", action="store_true", help="print the retained documents first")
    tailing.add_argument("--count", type=int, help="end after this number of messages (default: never)")
    verb(documents, "types")
    consuming = verb(consume, "consumer", "types", "--result")
    exclusive = "be the only member (default: share the work with other members)"
    consuming.add_argument("--exclusive", action="store_true", help=exclusive)
    asking = verb(ask, "type", "--data")
    asking.add_argument("--timeout", type=float, default=5, help="the maximum wait in seconds (default: 5)")
    verb(serve, "types")
    verb(announce)
    resending = verb(dead, "--consumer")
    resending.add_argument("--resend", action="store_true", help="publish each message again, for its consumer only")
    arguments = parser.parse_args()
    if not arguments.bus:
        parser.error("the bus address is missing; set SEGUE_BUS or --bus, for instance to ipc:///tmp/example-bus")
    return arguments


async def main(arguments: argparse.Namespace) -> None:
    async with connect(arguments.bus, f"python/{os.getpid()}") as bus:
        await arguments.run(bus, arguments)


if __name__ == "__main__":
    try:
        asyncio.run(main(parse()))
    except BusError as error:
        sys.exit(f"bus.py: {error}")
    except KeyboardInterrupt:
        pass
