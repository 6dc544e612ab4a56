"""The client at work: `python bus.py --help`. The bus is where SEGUE_BUS says."""

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


def show(message: Message) -> None:
    fields = {"offset": message.offset, "type": message.type, "subject": message.subject, "data": message.data}
    print(json.dumps(fields), flush=True)


async def publish(bus: Bus, arguments: argparse.Namespace) -> None:
    """Publishes --data, or each line of the input."""
    lines = [arguments.data] if arguments.data else [line for line in sys.stdin if line.strip()]
    messages = [Message(arguments.type, json.loads(line), arguments.subject) for line in lines]
    await asyncio.gather(*(bus.publish(message, transient=arguments.transient) for message in messages))


async def tail(bus: Bus, arguments: argparse.Namespace) -> None:
    """Prints messages as they come."""
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
    """Prints the retained documents."""
    for message in await bus.documents(*arguments.types):
        show(message)


async def consume(bus: Bus, arguments: argparse.Namespace) -> None:
    """Handles messages: answers each with an event of type --result. Data that says {"fail": true} fails."""

    async def handle(message: Message) -> list[Message]:
        if isinstance(message.data, dict) and message.data.get("fail"):
            raise ValueError("the message asks to fail")
        show(message)
        return [message.causing(arguments.result, message.data)] if arguments.result else []

    await bus.consume(arguments.consumer, arguments.types, handle, shared=not arguments.exclusive)


async def ask(bus: Bus, arguments: argparse.Namespace) -> None:
    """Puts a query, and prints its answer."""
    show(await bus.ask(Message(arguments.type, json.loads(arguments.data or "{}")), arguments.timeout))


async def serve(bus: Bus, arguments: argparse.Namespace) -> None:
    """Answers with what was asked."""

    async def answer(query: Message) -> object:
        return {"echo": query.data}

    await bus.serve({type: answer for type in arguments.types})
    print("serving", file=sys.stderr, flush=True)
    await asyncio.Event().wait()


async def dead(bus: Bus, arguments: argparse.Namespace) -> None:
    """Lists the dead letters, and sends them again with --resend."""
    for letter in await bus.dead_letters(arguments.consumer or ""):
        message = letter.entry.message()
        result = f"{letter.code} after {letter.attempts} attempts: {letter.reason}"
        print(f"{letter.id} {letter.consumer} {message.type} {result}")
        if arguments.resend and not message.problem:
            await bus.resend(letter)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bus", default=os.environ.get("SEGUE_BUS"), help="ipc:///DIRECTORY or tcp://HOST:PORT")
    verbs = parser.add_subparsers(required=True)

    def verb(run: Verb, *arguments: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(run.__name__, help=run.__doc__)
        added.set_defaults(run=run)
        for argument in arguments:
            added.add_argument(argument, nargs="+" if argument == "types" else None)
        return added

    publishing = verb(publish, "type", "--data")
    publishing.add_argument("--subject", default="default")
    publishing.add_argument("--transient", action="store_true")
    tailing = verb(tail, "types")
    tailing.add_argument("--beginning", action="store_true")
    tailing.add_argument("--retained", action="store_true")
    tailing.add_argument("--count", type=int)
    verb(documents, "types")
    consuming = verb(consume, "consumer", "types", "--result")
    consuming.add_argument("--exclusive", action="store_true", help="alone; shared with others unless said")
    asking = verb(ask, "type", "--data")
    asking.add_argument("--timeout", type=float, default=5)
    verb(serve, "types")
    verb(dead, "--consumer").add_argument("--resend", action="store_true")
    arguments = parser.parse_args()
    if not arguments.bus:
        parser.error("no bus: set SEGUE_BUS or --bus")
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
