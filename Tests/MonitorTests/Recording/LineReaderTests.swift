import Foundation
import Monitor
import SystemPackage
import Testing

@Suite("Lines that come in pieces")
struct LineReaderTests {
    /// Runs `body` with a reader of a pipe into which somebody writes these.
    private func reading(_ pieces: [String], _ body: (inout LineReader) throws -> Void) throws {
        let pipe = try FileDescriptor.pipe()
        defer {
            // To its end: who writes into a pipe that is closed is killed.
            var rest = [UInt8](repeating: 0, count: 1 << 16)
            while let count = try? rest.withUnsafeMutableBytes({ try pipe.readEnd.read(into: $0) }), count > 0 {}
            try? pipe.readEnd.close()
        }
        Thread {
            for piece in pieces { _ = try? pipe.writeEnd.writeAll(piece.utf8) }
            try? pipe.writeEnd.close()
        }.start()
        var reader = LineReader(pipe.readEnd)
        try body(&reader)
    }

    @Test("are the same however they come")
    func pieces() throws {
        for pieces in [["a\n\nbc\nd"], ["a", "\n", "\nb", "c\nd"], ["a\n", "\n", "bc\n", "d"]] {
            try reading(pieces) { reader in
                var lines: [LineReader.Line] = []
                while let line = try reader.next() {
                    lines.append(line)
                    #expect(reader.number == lines.count)
                }
                #expect(lines.map { String(decoding: $0.text, as: UTF8.self) } == ["a", "", "bc", "d"])
                #expect(lines.map(\.isWhole) == [true, true, true, false])
            }
        }
    }

    @Test("are there as soon as they are whole")
    func whole() throws {
        try reading(["a\nb\nc"]) { reader in
            #expect(!reader.holdsLine)
            _ = try reader.next()
            #expect(reader.holdsLine)
            _ = try reader.next()
            #expect(!reader.holdsLine, "the third one may never end")
        }
    }

    @Test("are no longer than the limit, whether they end or not", arguments: ["\n", ""])
    func tooLong(end: String) throws {
        let longest = String(repeating: "x", count: LineReader.limit)
        try reading(["a\n", longest, end]) { reader in
            _ = try reader.next()
            #expect(try reader.next()?.text.count == LineReader.limit)
        }
        try reading(["a\n", longest, "x", end]) { reader in
            _ = try reader.next()
            let error = #expect(throws: LineReader.TooLong.self) { try reader.next() }
            #expect(error?.number == 2)
        }
    }
}
