import Foundation
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Lines of a descriptor")
struct LineTests {
    private func lines(
        of text: String, limit: Int = 100, excess: LineReader.Excess = .fails
    ) throws -> [DescriptorLine] {
        let pipe = try Feeder(text)
        pipe.close()
        var reader = LineReader(pipe.output, limit: limit, excess: excess)
        var lines: [DescriptorLine] = []
        while let line = try reader.next() {
            lines.append(line)
            #expect(reader.number == lines.count)
        }
        #expect(try reader.next() == nil)
        return lines
    }

    @Test("The last line may lack its ending")
    func ends() throws {
        #expect(try lines(of: "1\n\nCalm\nq").map(\.text) == ["1", "", "Calm", "q"])
        #expect(try lines(of: "1\n\nCalm\nq").map(\.isWhole) == [true, true, true, false])
        #expect(try lines(of: "1\n").map(\.text) == ["1"])
        #expect(try lines(of: "").isEmpty)
        #expect(try lines(of: "\n").map(\.text) == [""])
    }

    @Test(
        "Lines are the same in any portions",
        arguments: [["a\n\nbc\nd"], ["a", "\n", "\nb", "c\nd"], ["a\n", "\n", "bc\n", "d"]])
    func pieces(pieces: [String]) throws {
        let pipe = try Feeder("")
        Thread {
            for piece in pieces { pipe.write(piece) }
            pipe.close()
        }.start()
        var reader = LineReader(pipe.output, limit: 100)
        var lines: [DescriptorLine] = []
        while let line = try reader.next() { lines.append(line) }
        #expect(lines.map(\.text) == ["a", "", "bc", "d"])
        #expect(lines.map(\.isWhole) == [true, true, true, false])
    }

    @Test("A line is available as soon as it is complete")
    func whole() throws {
        let pipe = try Feeder("a\nb\nc")
        var reader = LineReader(pipe.output, limit: 100)
        #expect(!reader.holdsLine)
        _ = try reader.next()
        #expect(reader.holdsLine)
        _ = try reader.next()
        #expect(!reader.holdsLine, "the third one may never end")
    }

    @Test("A line that is too long fails with its number, or becomes several", arguments: [true, false])
    func long(hasEnd: Bool) throws {
        let text = "short\n" + String(repeating: "x", count: 250) + (hasEnd ? "\n" : "")
        #expect(throws: LineReader.TooLong(number: 2)) { try lines(of: text) }
        let parts = try lines(of: text, excess: .splits)
        #expect(parts.map(\.bytes.count) == [5, 100, 100, 50])
        #expect(parts.map(\.isWhole) == [true, false, false, hasEnd])
    }

    @Test("A line of the maximum length is not cut", arguments: [LineReader.Excess.fails, .splits])
    func longest(excess: LineReader.Excess) throws {
        let line = String(repeating: "x", count: 100)
        #expect(try lines(of: "\(line)\n\(line)", excess: excess).map(\.text) == [line, line])
    }

    @Test("An input error is reported with its reason")
    func unreadable() {
        var reader = LineReader(-1, limit: 100)
        let error = #expect(throws: SystemError.self) { try reader.next() }
        #expect(error?.code == EBADF)
    }

    @Test("Lines that arrived together are returned together, and not before they are requested")
    func batches() async throws {
        let pipe = try Feeder("1\n2\n3")
        let lines = DescriptorLines(LineReader(pipe.output, limit: 100))
        #expect(try await lines.next()?.text == "1")
        #expect(try await lines.nextBatch()?.map(\.text) == ["2"])
        pipe.write("\n4\n")
        #expect(try await lines.nextBatch()?.map(\.text) == ["3", "4"])
        pipe.close()
        #expect(try await lines.next() == nil)
        #expect(try await lines.nextBatch() == nil)
    }

    @Test("A line that arrives after a cancelled wait is returned to the next caller")
    func cancelled() async throws {
        let pipe = try Feeder("")
        let lines = DescriptorLines(LineReader(pipe.output, limit: 100))
        for _ in 0..<3 {
            let wait = Task { try await lines.next() }
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
        pipe.write("late\n")
        #expect(try await lines.next()?.text == "late")
        pipe.close()
    }

    @Test("A mistake in a line is reported after the lines before it")
    func failure() async throws {
        let pipe = try Feeder("1\n" + String(repeating: "x", count: 200))
        pipe.close()
        let lines = DescriptorLines(LineReader(pipe.output, limit: 100))
        #expect(try await lines.next()?.text == "1")
        for _ in 0..<2 {
            await #expect(throws: LineReader.TooLong(number: 2)) { try await lines.next() }
        }
    }
}

/// A pipe that the test writes to.
private final class Feeder: Sendable {
    let output: CInt
    private let input: Mutex<CInt?>

    init(_ text: String) throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        output = ends[0]
        input = Mutex(ends[1])
        write(text)
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        input.withLock { _ = $0.map { Foundation.write($0, bytes, bytes.count) } }
    }

    func close() {
        input.withLock { input in
            if let input { Foundation.close(input) }
            input = nil
        }
    }

    deinit {
        close()
        Foundation.close(output)
    }
}
