import BusChecker
import BusSoak
import Contracts
import EventBus
import Foundation
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("Damaged journal files")
struct JournalFileTests {
    @Test("A flipped byte in a message costs only that message, which is reported")
    func damagedRow() async throws {
        try await Arena.with { arena in
            let offsets = try await publish(["one", "two-to-be-damaged", "three"], in: arena)
            try change(arena.journal) { data in
                let range = try #require(data.range(of: Data("two-to-be-damaged".utf8)))
                data[range.lowerBound] = UInt8(ascii: "T")
            }
            _ = try await arena.startBroker("again")
            let recorder = LogRecorder()
            let bus = try EventBus.zeroMQ(address: arena.bus, source: "test/1", logger: recorder.logger)
            let (texts, error) = try await bus.whileOpen {
                let texts = try await bus.withSubscription(to: [.type(Noted.self)], from: .beginning) { messages in
                    var texts: [String] = []
                    for try await message in messages {
                        texts.append(try message.decode(Noted.self).text)
                        if texts.last == "three" { break }
                    }
                    return texts
                }
                let error = try await bus.received(ApplicationError.self)[0].decode(ApplicationError.self)
                return (texts, error)
            }
            #expect(texts == ["one", "three"])
            // The error is on the bus, in the broker's log and in the reader's log.
            let line =
                "the journal \(arena.journal) has damaged messages, which cannot be delivered (1): offset \(offsets[1])"
            #expect(error.code == "broker.journal.damaged")
            #expect(error.message == line)
            #expect(arena.log(of: "again").contains(line))
            let named = recorder.metadata("offset", of: "error: a message was skipped: the journal is damaged")
            #expect(Set(named) == ["\(offsets[1])"])
        }
    }

    @Test("A damaged page ends the broker with one line and a command that saves the rest")
    func damagedPage() async throws {
        try await Arena.with { arena in
            try await publish((0..<200).map { "\($0)" }, in: arena)
            try change(arena.journal) { data in
                for index in stride(from: 4096, to: data.count, by: 4096) { data[index] = 0xee }
            }
            try await expectEnd(naming: ".recover", in: arena)
        }
    }

    @Test(
        "A file that is cut short ends the broker with one line and a command that saves the rest",
        arguments: [100, 4096, 10_000])
    func cut(size: Int) async throws {
        try await Arena.with { arena in
            try await publish((0..<200).map { "\($0)" }, in: arena)
            try change(arena.journal) { $0 = $0.prefix(size) }
            try await expectEnd(naming: ".recover", in: arena)
        }
    }

    @Test("A file that is not a journal ends the broker with one line and a command that saves its content")
    func noJournal() async throws {
        try await Arena.with { arena in
            try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: arena.journal))
            try await expectEnd(naming: ".recover", in: arena)
        }
    }

    @Test(
        "A journal that is deleted or replaced while it is used ends the broker with one line",
        arguments: [true, false])
    func removed(isReplaced: Bool) async throws {
        try await Arena.with { arena in
            let broker = try await arena.startBroker()
            try await arena.withBus { _ = try await $0.publish(Noted(text: "to be deleted")) }
            let copy = JournalFiles(at: arena.journal)
            if isReplaced { try copy.write(to: arena.journal) } else { JournalFiles.remove(arena.journal) }
            #expect(try await arena.waitUntilEnd(of: broker) != .exited(0))
            #expect(arena.log(of: broker.name).contains("removed or replaced"))
        }
    }

    @Test("A journal that has lost its end begins a new epoch when a client proves the loss")
    func lostEnd() async throws {
        try await Arena.with { arena in
            try await publish(["kept"], in: arena)
            let old = try Data(contentsOf: URL(fileURLWithPath: arena.journal))
            let broker = try await arena.startBroker("second")
            try await arena.withBus { bus in
                let lost = try await bus.publish(Noted(text: "lost")).position
                // This call gets a mark of the message from the broker. The client's next hello contains the mark.
                try await bus.waitUntilConnected(timeout: Arena.deadline)
                try await broker.send(SIGTERM)
                try await arena.waitUntilEnd(of: broker)
                try old.write(to: URL(fileURLWithPath: arena.journal))
                _ = try await arena.startBroker("third")
                // Publishing waits until the broker of the shortened journal has begun a new epoch.
                let texts = try await bus.withSubscription(to: [.type(Noted.self)], from: .beginning) { messages in
                    var texts: [String] = []
                    try await bus.publish(Noted(text: "new"))
                    for try await message in messages {
                        texts.append(try message.decode(Noted.self).text)
                        if texts.last == "new" { break }
                    }
                    return texts
                }
                #expect(texts.contains("kept"))
                #expect(!texts.contains("lost"))
                try await arena.waitUntilLog(of: "third", "tells of a new epoch") { $0.contains("epoch") }
                #expect(try await bus.inspect.newest(matching: [.type(Noted.self)]).epoch != lost?.epoch)
            }
        }
    }

    @Test("Processes that were stopped while a journal was replaced and grew start again, and continue")
    func putBack() async throws {
        try await Arena.with { arena in
            try await publish(["kept"], in: arena)
            let old = try Data(contentsOf: URL(fileURLWithPath: arena.journal))
            let broker = try await arena.startBroker("second")
            let publisher = try await arena.startFixture("publisher", "publish", ["--lanes", "1", "--batch", "1"])
            try await arena.until("the publisher is at work") { $0["publisher"]?.acknowledged ?? 0 > 100 }
            // The reader sends hello before its first read, so it knows an end that is beyond the old one.
            let reader = try await arena.startFixture("reader", "subscribe")
            try await arena.until("the reader reads") { $0["reader"]?.delivered ?? 0 > 100 }
            try await publisher.send(SIGSTOP)
            try await reader.send(SIGSTOP)
            try await broker.send(SIGTERM)
            try await arena.waitUntilEnd(of: broker)
            // Without the record of the end, the broker cannot know at its start that the end is lost.
            for suffix in ["-wal", "-shm", ".end"] {
                try? FileManager.default.removeItem(atPath: arena.journal + suffix)
            }
            try old.write(to: URL(fileURLWithPath: arena.journal))
            _ = try await arena.startBroker("third")
            let other = try await arena.startFixture("other", "publish", ["--count", "1000"])
            #expect(try await arena.waitUntilEnd(of: other) == .exited(0))

            try await reader.send(SIGCONT)
            try await publisher.send(SIGCONT)
            try await arena.waitUntilLog(of: "third", "tells of a new epoch") { $0.contains("epoch") }
            let before = await arena.counts(of: "publisher").acknowledged
            try await arena.until("the publisher goes on") { $0["publisher"]?.acknowledged ?? 0 > before + 100 }
            try await publisher.send(SIGTERM)
            #expect(try await arena.waitUntilEnd(of: publisher) == .exited(0))
            let journalled = try await arena.withBus { bus in try await bus.journal() }
            let values = Set(journalled.compactMap(\.value))
            try await arena.until("the reader has all that is there") { _ in
                values.isSubset(of: Set(arena.deliveries(to: "reader").map(\.value)))
            }
            #expect(arena.acknowledged(by: "other").isSubset(of: values))
        }
    }

    /// Starts a broker that cannot use the journal, and expects that it ends with an error.
    private func expectEnd(naming words: String, in arena: Arena) async throws {
        let broker = try await arena.startBroker("again")
        // EX_IOERR: starting it again would not help.
        #expect(try await arena.waitUntilEnd(of: broker) == .exited(74))
        let lines = arena.log(of: broker.name).split(separator: "\n").filter { $0.contains(words) }
        #expect(lines.count == 1 && lines[0].hasPrefix("broker: "), "\(lines)")
    }

    /// Publishes through a broker that then ends regularly, so that everything is in the file.
    /// - Returns: The offsets.
    @discardableResult
    private func publish(_ texts: [String], in arena: Arena) async throws -> [UInt64] {
        let broker = try await arena.startBroker()
        let offsets = try await arena.withBus { bus in
            var offsets: [UInt64] = []
            for text in texts { offsets.append(try await bus.publish(Batch([bus.noted(text)])).offset) }
            return offsets
        }
        try await broker.send(SIGTERM)
        #expect(try await arena.waitUntilEnd(of: broker) == .exited(0))
        return offsets
    }

    private func change(_ path: String, _ body: (inout Data) throws -> Void) throws {
        let url = URL(fileURLWithPath: path)
        var data = try Data(contentsOf: url)
        try body(&data)
        try data.write(to: url)
    }
}
