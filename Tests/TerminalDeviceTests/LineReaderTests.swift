import Foundation
import Testing

@testable import TerminalDevice

@Suite("Line reader")
struct LineReaderTests {
    private func lines(of text: String) throws -> [String] {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        var reader = LineReader(descriptor: pipe.fileHandleForReading.fileDescriptor)
        var lines: [String] = []
        while let line = reader.next() { lines.append(line) }
        return lines
    }

    @Test("gives the lines of a pipe, the last one with or without its end")
    func pipe() throws {
        #expect(try lines(of: "1\n\nCalm\nq") == ["1", "", "Calm", "q"])
        #expect(try lines(of: "1\n") == ["1"])
        #expect(try lines(of: "").isEmpty)
    }

    @Test("does not grow with a line that never ends")
    func longLine() throws {
        let lines = try lines(of: String(repeating: "x", count: 10_000))
        #expect(lines.joined().count == 10_000)
        #expect(lines.allSatisfy { $0.count <= 8192 })
    }

    @Test("takes what cannot be read for the end")
    func unreadable() {
        var reader = LineReader(descriptor: -1)
        #expect(reader.next() == nil)
    }
}
