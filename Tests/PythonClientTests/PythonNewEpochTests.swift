import EventBus
import Foundation
import SegueTestSupport
import TestSupport
import Testing

@Suite("Fast client in Python in another epoch", .needsPython)
struct PythonNewEpochTests {
    @Test("A subscription from now continues where the epoch began", .timeLimit(.minutes(3)))
    func fromNow() async throws {
        try await TestStack.withPython { stack, python in
            try await stack.publish(0..<20)
            try await python.running("tail", "event.Counted") { tail in
                try await tail.waitUntilLine("live")
                try await stack.journalLosesItsEnd {
                    try await stack.publish(20..<40)
                    try await tail.messages(20)
                }
                try await stack.publish(100..<150)
                let messages = try await tail.messages(50)
                #expect(messages.map(\.data?.number) == Array(100..<150))
            }
        }
    }

    @Test(
        "A subscription from the retained documents receives them again, and later messages once",
        .timeLimit(.minutes(3)))
    func retained() async throws {
        try await TestStack.withPython { stack, python in
            try await stack.bus.publish(Level(number: 1, key: "a"))
            try await stack.bus.publish(Level(number: 2, key: "b"))
            try await stack.bus.publish(Level(number: 3, key: "b"))
            try await python.running("tail", "document.Level", "event.Counted", "--retained") { tail in
                try await tail.waitUntilLine("live")
                let first = try await tail.messages(2)
                #expect(first.map(\.data?.number) == [1, 3])
                try await stack.journalLosesItsEnd {
                    try await stack.publish(20..<40)
                    try await tail.messages(20)
                }
                try await stack.publish(100..<150)
                let messages = try await tail.messages(52)
                #expect(messages.map(\.data?.number) == [1, 3] + Array(100..<150))
            }
        }
    }

    @Test(
        "Leased documents are published again in another journal, except withdrawn ones",
        .timeLimit(.minutes(3)))
    func leasesInNewJournal() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running(script: Self.leasing) { process in
                try await process.waitUntilLine("leased")
                try await stack.stop("broker")
                for suffix in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: "\(stack.dataDirectory)/broker/journal.sqlite\(suffix)")
                }
                try await stack.start("broker")
                try await process.waitUntilLine("published again: a 3")
                let levels = try await python("documents", "document.Level").map { try PrintedMessage($0).data?.number }
                #expect(levels == [3])
            }
        }
    }

    @Test("Leased documents are published again after a silence that was too long", .timeLimit(.minutes(3)))
    func leasesAfterSilence() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running(script: Self.leasing) { process in
                try await process.waitUntilLine("leased")
                process.pause()
                try await stack.until("it is withdrawn") { messages in
                    messages.contains { $0.type == Level.type && $0.attributes.key == "a" && $0.isTombstone }
                }
                process.resume()
                try await process.waitUntilLine("published again: a 3")
                let levels = try await python("documents", "document.Level").map { try PrintedMessage($0).data?.number }
                #expect(levels == [3])
            }
        }
    }

    /// A script that leases two documents, withdraws one of them, and prints the later messages about them.
    private static let leasing = """
        import asyncio, sys
        from segue_client import connect
        from segue_wire import Message

        async def main():
            async with connect(sys.argv[1], "python/leasing") as bus:
                async with bus.subscription("document.Level") as levels:
                    for number, key in ((1, "a"), (2, "b"), (3, "a")):
                        await bus.publish(Message("document.Level", {"number": number}, key=key), leased=True)
                    await bus.publish(Message("document.Level", key="b"))
                    for _ in range(4):
                        await anext(levels)
                    print("leased", flush=True)
                    async for level in levels:
                        if level.data:
                            print("published again:", level.key, level.data["number"], flush=True)

        asyncio.run(main())
        """
}
