import BusSoak
import Contracts
import EventBus
import Foundation
import TestSupport
import Testing

@Suite(
    "Full disk",
    .enabled(if: SmallDisk.isAllowed, "a small disk needs a mount namespace (unshare --mount), not allowed here"))
struct FullDiskTests {
    /// The unique texts of the messages of one publisher.
    private struct Sent: Sendable {
        var acknowledged: [String] = []
        /// Texts of refused messages. They may have been recorded.
        var refused: [String] = []
    }

    @Test("The publisher gets an error, no acknowledged message is lost, and it continues when there is room again")
    func fullDisk() async throws {
        try await Arena.with { arena in
            let disk = SmallDisk(at: "\(arena.directory)/disk", size: "16m")
            // When the filler has been removed, there is room to write the whole write-ahead log back to the file.
            let script = """
                head -c 12000000 /dev/zero > \(disk.folder)/filler \
                && exec "$0" --bus \(arena.bus) --journal \(disk.folder)/journal.sqlite
                """
            let broker = try await arena.start("broker", disk.command(["sh", "-c", script, Self.broker]))
            try await arena.withBus { bus in
                let publishers = try await bus.withSubscription(
                    to: [.type(ApplicationError.self)], from: .now
                ) { errors in
                    var publishers = try await fill(bus)
                    try await errors.next(with: "broker.journal.unwritable")
                    try disk.makeRoom(of: try await broker.pid)
                    publishers.append(try await publish("last", until: { _ in true }, on: bus))
                    try await errors.next(with: "broker.journal.writable")
                    return publishers
                }
                let found = try await bus.withSubscription(to: [.type(Noted.self)], from: .beginning) { messages in
                    var found: [String] = []
                    for try await message in messages {
                        let text = try message.decode(Noted.self).text
                        found.append(String(text.prefix { $0 != " " }))
                        if found.last == publishers.last?.acknowledged.last { break }
                    }
                    return found
                }
                #expect(Set(found).count == found.count, "nothing is there twice")
                let sent = publishers.flatMap { $0.acknowledged + $0.refused }
                #expect(Set(found).isSubset(of: sent), "nothing is there that was never sent")
                for publisher in publishers {
                    // A refused message may be recorded nevertheless; an acknowledged message must be.
                    let acknowledged = Set(publisher.acknowledged)
                    #expect(found.filter(acknowledged.contains) == publisher.acknowledged)
                }
            }
        }
    }

    private static let broker = TestProgram.built("broker")

    /// Fills the disk. Several tasks publish until a message of each is refused.
    private func fill(_ bus: EventBus) async throws -> [Sent] {
        try await withThrowingTaskGroup { group in
            for name in ["a", "b", "c"] {
                group.addTask { try await publish(name, until: { !$0.refused.isEmpty }, on: bus) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Publishes until a message is acknowledged and `isEnough` is true.
    private func publish(
        _ name: String, until isEnough: (Sent) -> Bool, on bus: EventBus
    ) async throws -> Sent {
        var sent = Sent()
        for number in 1... {
            let text = "\(name)\(number)"
            do {
                try await bus.publish(Noted(text: text + " " + String(repeating: "x", count: 20_000)))
                sent.acknowledged.append(text)
            } catch let error as BusError where error.code == .journal {
                sent.refused.append(text)
            }
            if !sent.acknowledged.isEmpty, isEnough(sent) { break }
        }
        return sent
    }
}

extension MessageSequence {
    /// Waits for an error with this code.
    func next(with code: String) async throws {
        for try await message in self where try message.decode(ApplicationError.self).code == code { return }
    }
}
