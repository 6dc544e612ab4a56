import BusSoak
import EventBus
import Foundation
import Testing

@Suite("When the journal's file is not what it was")
struct JournalFileTests {
    @Test("a byte that flipped in a message costs that message, which is named, and no other")
    func damagedRow() async throws {
        try await Arena.with { arena in
            try await publish(["one", "two-to-be-damaged", "three"], in: arena)
            try change(arena.journal) { data in
                let range = try #require(data.range(of: Data("two-to-be-damaged".utf8)))
                data[range.lowerBound] = UInt8(ascii: "T")
            }
            _ = try await arena.startBroker("again")
            let texts = try await arena.withBus { bus in
                try await bus.withSubscription(to: [.type(Noted.self)], from: .beginning) { messages in
                    var texts: [String] = []
                    for try await message in messages {
                        texts.append(try message.decode(Noted.self).text)
                        if texts.last == "three" { break }
                    }
                    return texts
                }
            }
            #expect(texts == ["one", "three"])
            #expect(arena.log(of: "again").contains("damaged"))
        }
    }

    @Test("a page that is damaged ends the broker with one line that says how to save the rest")
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
        "a file that is cut short ends the broker with one line that says how to save the rest",
        arguments: [100, 4096, 10_000])
    func cut(size: Int) async throws {
        try await Arena.with { arena in
            try await publish((0..<200).map { "\($0)" }, in: arena)
            try change(arena.journal) { $0 = $0.prefix(size) }
            try await expectEnd(naming: ".recover", in: arena)
        }
    }

    @Test("a file that is no journal ends the broker with one line that says how to save what it is")
    func noJournal() async throws {
        try await Arena.with { arena in
            try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: arena.journal))
            try await expectEnd(naming: ".recover", in: arena)
        }
    }

    @Test(
        "a journal that is deleted or replaced while it is served ends the broker with one line",
        arguments: [true, false])
    func removed(isReplaced: Bool) async throws {
        try await Arena.with { arena in
            let broker = try await arena.startBroker()
            try await arena.withBus { _ = try await $0.publish(Noted(text: "to be deleted")) }
            let copy = JournalFiles(at: arena.journal)
            if isReplaced { try copy.write(to: arena.journal) } else { JournalFiles.remove(arena.journal) }
            #expect(try await arena.untilEnd(of: broker) != .exited(0))
            #expect(arena.log(of: broker.name).contains("removed or replaced"))
        }
    }

    @Test("a journal that has lost its end begins a new epoch as soon as somebody knows of more")
    func lostEnd() async throws {
        try await Arena.with { arena in
            try await publish(["kept"], in: arena)
            let old = try Data(contentsOf: URL(fileURLWithPath: arena.journal))
            let broker = try await arena.startBroker("second")
            try await arena.withBus { bus in
                let lost = try await bus.publish(Noted(text: "lost")).position
                try await broker.send(SIGTERM)
                try await arena.untilEnd(of: broker)
                try old.write(to: URL(fileURLWithPath: arena.journal))
                _ = try await arena.startBroker("third")
                // It waits until the broker of the shortened journal has found a new epoch.
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
                try await arena.untilLog(of: "third", "tells of a new epoch") { $0.contains("epoch") }
                #expect(try await bus.newest(matching: [.type(Noted.self)]).epoch != lost?.epoch)
            }
        }
    }

    /// Starts a broker that cannot serve what it finds.
    private func expectEnd(naming words: String, in arena: Arena) async throws {
        let broker = try await arena.startBroker("again")
        #expect(try await arena.untilEnd(of: broker) != .exited(0))
        #expect(arena.log(of: broker.name).split(separator: "\n").filter { $0.contains(words) }.count == 1)
    }

    /// Publishes through a broker that then ends in order, so that all is in the file.
    private func publish(_ texts: [String], in arena: Arena) async throws {
        let broker = try await arena.startBroker()
        try await arena.withBus { bus in
            for text in texts { try await bus.publish(Noted(text: text)) }
        }
        try await broker.send(SIGTERM)
        #expect(try await arena.untilEnd(of: broker) == .exited(0))
    }

    private func change(_ path: String, _ body: (inout Data) throws -> Void) throws {
        let url = URL(fileURLWithPath: path)
        var data = try Data(contentsOf: url)
        try body(&data)
        try data.write(to: url)
    }
}
