import Foundation
import Testing

@testable import TerminalDevice

@Suite("Line reader of standard input")
struct StandardInputTests {
    private func lines(of text: String) async throws -> [String] {
        try await lines(of: Data(text.utf8)).compactMap(\.self)
    }

    private func lines(of bytes: Data) async throws -> [String?] {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: bytes)
        try pipe.fileHandleForWriting.close()
        let lines = TerminalInput.lines(of: pipe.fileHandleForReading.fileDescriptor)
        return await lines.reduce(into: []) { $0.append($1) }
    }

    @Test("The reader returns the lines of a pipe, the last one with or without its end")
    func pipe() async throws {
        #expect(try await lines(of: "1\n\nCalm\nq") == ["1", "", "Calm", "q"])
        #expect(try await lines(of: "1\n") == ["1"])
        #expect(try await lines(of: "").isEmpty)
    }

    @Test("The reader returns no text for a line that is not UTF-8")
    func encoding() async throws {
        #expect(try await lines(of: Data([0x63, 0x61, 0x66, 0xE9, 0x0A, 0x71])) == [nil, "q"])
    }

    @Test("The reader has a limited size for a line that never ends")
    func longLine() async throws {
        let lines = try await lines(of: String(repeating: "x", count: 10_000))
        #expect(lines.joined().count == 10_000)
        #expect(lines.allSatisfy { $0.count <= 8192 })
    }

    @Test("An input error counts as the end")
    func unreadable() async {
        for await _ in TerminalInput.lines(of: -1) { Issue.record("there is nothing to read") }
    }
}
