import EventBus
import Foundation
import SegueTestSupport
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("The file of a bus in memory")
struct StateFileTests {
    private let scratch: ScratchFolder
    private let log = LogRecorder()

    init() throws {
        scratch = try ScratchFolder()
    }

    private static let state = MessageType(kind: .document, name: "State")

    private var path: String { scratch.path("bus.json") }

    private var file: StateFile { StateFile(path, logger: log.logger) }

    private func publish(_ text: String, on hub: InMemoryHub) async throws {
        let attributes = Attributes(type: Self.state, source: "test/1")
        let bus = EventBus.inMemory(source: "test/1", hub: hub)
        try await bus.publish(Batch([Envelope(attributes: attributes, data: Data(text.utf8))]))
    }

    private func state(of hub: InMemoryHub) async throws -> String? {
        let bus = EventBus.inMemory(source: "test/1", hub: hub)
        let data = try await bus.document(Self.state, subject: Session.default, key: nil)?.data
        return data.map { String(decoding: $0, as: UTF8.self) }
    }

    private struct Failure: Error {}

    @Test("The next process has the last published state, also if the process before it failed")
    func end() async throws {
        defer { scratch.remove() }
        try await file.withHub { hub in
            #expect(try await state(of: hub) == nil)
            try await publish("1", on: hub)
        }
        await #expect(throws: Failure.self) {
            try await file.withHub { hub in
                #expect(try await state(of: hub) == "1")
                try await publish("2", on: hub)
                throw Failure()
            }
        }
        #expect(try await file.withHub { try await state(of: $0) } == "2")
        #expect(log.lines.isEmpty)
    }

    @Test("A change is saved while the process runs, so that a kill loses only the newest ones")
    func interval() async throws {
        defer { scratch.remove() }
        let clock = ManualClock()
        let file = StateFile(path, logger: log.logger, clock: clock)
        try await file.withHub { hub in
            try await publish("1", on: hub)
            try await clock.sleepers()
            #expect(!FileManager.default.fileExists(atPath: path))
            clock.advance(by: StateFile.interval)
            // The next change is waited for after the first was written.
            try await publish("2", on: hub)
            try await clock.sleepers()
            let saved = try SavedHub(try Data(contentsOf: URL(filePath: path)))
            #expect(["1", "2"].contains(try await state(of: InMemoryHub(saved))))
        }
    }

    @Test(
        "Content that cannot be read is moved aside with one line, and the app starts", arguments: ["", "{}", "\u{0}"])
    func damage(content: String) async throws {
        defer { scratch.remove() }
        try Data(content.utf8).write(to: URL(filePath: path))
        try await file.withHub { hub in
            #expect(try await state(of: hub) == nil)
            try await publish("1", on: hub)
        }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("error: the app starts without its saved state, which is now in") == true)
        #expect(log.lines.first?.contains("\n") == false)
        #expect(try Data(contentsOf: URL(filePath: "\(path).refused")) == Data(content.utf8))
        #expect(try await file.withHub { try await state(of: $0) } == "1")
    }

    @Test("A second process is refused, and changes nothing")
    func taken() async throws {
        defer { scratch.remove() }
        try await file.withHub { hub in
            try await publish("1", on: hub)
            let error = await #expect(throws: ConfigurationError.self) { try await file.withHub { _ in } }
            #expect(error?.message == "another process uses the state in \(path)")
        }
        #expect(try await file.withHub { try await state(of: $0) } == "1")
    }

    @Test("A process that cannot save its state at the end fails")
    func unwritable() async throws {
        await #expect(throws: (any Error).self) {
            try await file.withHub { hub in
                scratch.remove()
                try await publish("1", on: hub)
            }
        }
        #expect(log.lines.contains { $0.hasPrefix("error: the state could not be saved") })
    }

    @Test("A file that cannot be read ends the process, and stays as it is")
    func unreadable() async throws {
        defer { scratch.remove() }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let error = await #expect(throws: ConfigurationError.self) { try await file.withHub { _ in } }
        #expect(error.map { "\($0)".contains(path) } == true)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: "\(path).refused"))
    }
}
