import Foundation
import Monitor
import Testing

@Suite("Lines that come in pieces")
struct LineReaderTests {
    private func reader(_ pieces: [String]) -> LineReader {
        var pieces = pieces.map { Data($0.utf8) }[...]
        return LineReader { pieces.popFirst() ?? Data() }
    }

    @Test("are the same however they come, and each is given as soon as it is there")
    func pieces() throws {
        for pieces in [["a\n\nbc\nd"], ["a", "\n", "\nb", "c\nd"], ["a\n", "\n", "bc\n", "d"]] {
            var (reader, lines) = (reader(pieces), [LineReader.Line]())
            while let line = try reader.next() {
                lines.append(line)
                #expect(reader.number == lines.count)
            }
            #expect(lines.map { String(decoding: $0.text, as: UTF8.self) } == ["a", "", "bc", "d"])
            #expect(lines.map(\.isWhole) == [true, true, true, false])
        }
        var reader = reader(["a\nb\nc", "\n"])
        #expect(!reader.holdsLine)
        _ = try reader.next()
        #expect(reader.holdsLine)
        _ = try reader.next()
        #expect(!reader.holdsLine, "the third one may never end")
    }

    @Test("are no longer than the limit, whether they end or not", arguments: ["\n", ""])
    func tooLong(end: String) throws {
        let longest = String(repeating: "x", count: LineReader.limit)
        var reader = reader(["a\n", longest, end, end.isEmpty ? "" : "b\n"])
        _ = try reader.next()
        #expect(try reader.next()?.text.count == LineReader.limit)
        var other = self.reader(["a\n", longest, "x" + end])
        _ = try other.next()
        let error = #expect(throws: LineReader.TooLong.self) { try other.next() }
        #expect(error?.number == 2)
    }
}
