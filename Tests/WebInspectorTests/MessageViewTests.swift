import EventBus
import Foundation
import Monitor
import Support
import Testing

@testable import WebInspector

/// A message of a journal, as a view receives it.
private func message(
    _ offset: UInt64, _ type: String = "event.Tick", key: String? = nil, data: String = "{}", source: String = "a/1"
) throws -> Envelope {
    var attributes = Attributes(type: try #require(MessageType(type)), source: source, id: "m\(offset)")
    attributes.key = key
    return Envelope(attributes: attributes, data: Data(data.utf8), position: Position(epoch: 1, offset: offset))
}

extension PendingRows {
    fileprivate mutating func append(_ message: Envelope) { append(MessageRow(message)) }
}

extension MessagesView {
    fileprivate mutating func handle(_ message: Envelope) { handle(message) { MessageRow(message) } }
}

/// A message that the journal does not have.
private func transient(_ id: String, data: String = "{}") throws -> Envelope {
    var message = try message(1, data: data)
    message.attributes.id = id
    message.position = nil
    return message
}

@Suite("Buffer of rows")
struct PendingRowsTests {
    @Test("Rows are dequeued in order, as many as fit")
    func order() throws {
        var pending = PendingRows()
        for offset in 1...5 { pending.append(try message(UInt64(offset))) }
        let first = pending.dequeue(size: 900)
        #expect(first.rows.map(\.offset) == [1, 2])
        #expect(first.skipped == nil)
        let second = pending.dequeue(size: 1).rows
        #expect(second.map(\.offset) == [3], "at least one row")
        let rest = pending.dequeue(size: .max).rows
        #expect(rest.map(\.offset) == [4, 5])
        #expect(pending.isEmpty)
    }

    @Test("The oldest rows are skipped and counted if there are too many")
    func skipped() throws {
        var pending = PendingRows()
        for offset in 1...UInt64(PendingRows.limit + 7) { pending.append(try message(offset)) }
        let (rows, skipped) = pending.dequeue(size: .max)
        #expect(rows.count == PendingRows.limit)
        #expect(
            skipped
                == PendingRows.Skipped(
                    count: 7, after: Position(epoch: 1, offset: 0), before: Position(epoch: 1, offset: 8)))
    }

    @Test("The last version of each skipped document is kept")
    func documents() throws {
        var pending = PendingRows()
        pending.append(try message(1, "document.Cart", key: "a"))
        pending.append(try message(2, "document.Cart", key: "a", data: #"{"n":2}"#))
        pending.append(try message(3, "document.Cart", key: "b"))
        for offset in 4...UInt64(PendingRows.limit + 3) { pending.append(try message(offset)) }
        let (rows, skipped) = pending.dequeue(size: .max)
        #expect(rows.prefix(3).map(\.offset) == [2, 3, 4])
        #expect(skipped?.count == 1)
    }

    @Test("The documents of skipped rows are dequeued before later rows")
    func manyDocuments() throws {
        var pending = PendingRows()
        for offset in 1...3 { pending.append(try message(UInt64(offset), "document.Cart", key: "\(offset)")) }
        for offset in 4...UInt64(PendingRows.limit + 3) { pending.append(try message(offset)) }
        let first = pending.dequeue(size: 900)
        #expect(first.rows.map(\.offset) == [1, 2])
        #expect(first.skipped?.count == 0)
        let second = pending.dequeue(size: 900)
        #expect(second.rows.map(\.offset) == [3, 4])
        #expect(second.skipped == nil)
    }

    @Test("Transient messages keep their position, and skipped ones are counted in a notice")
    func transients() throws {
        var view = MessagesView(MessageSelection(), loadsHistory: true)
        view.handle(try message(5))
        view.handle(try transient("a"))
        view.setHistory([MessageRow(try message(5))], end: Position(epoch: 1, offset: 5))
        func update() throws -> JSONValue {
            let bytes = view.dequeueUpdate(size: .max)
            return try JSONValue(parsing: Data(try #require(bytes)))
        }
        let first = try update()
        #expect(first["rows"]?.arrayValue?.map { $0["id"] } == ["m5", "a"])
        #expect(first["rows"]?.arrayValue?.map { $0["position"] } == ["1:5", .null])
        for _ in 0..<3 { view.handle(try transient("b")) }
        for offset in 0..<UInt64(PendingRows.limit) { view.handle(try message(offset + 6)) }
        let second = try update()
        #expect(second["rows"]?.arrayValue?.count == PendingRows.limit)
        #expect(second["skipped"] == nil)
        #expect(second["lost"] == ["3 transient messages were skipped; there are too many"])
    }

    @Test("Only the newest transient messages are kept")
    func transientData() throws {
        var kept = RecentTransients()
        for number in 0...RecentTransients.countLimit { kept.append(try transient("\(number)")) }
        #expect(kept["0"] == nil && kept["1"] != nil && kept["\(RecentTransients.countLimit)"] != nil)
        kept.append(try transient("large", data: String(repeating: "a", count: RecentTransients.sizeLimit)))
        #expect(kept["\(RecentTransients.countLimit)"] == nil && kept["large"] != nil)
        kept.append(try transient("last"))
        #expect(kept["large"] == nil && kept["last"] != nil)
    }

    @Test("Rows of the journal come before live rows, and no row comes twice")
    func history() throws {
        var view = MessagesView(MessageSelection(), loadsHistory: true)
        for offset in 5...8 { view.handle(try message(UInt64(offset))) }
        #expect(!view.hasNews)
        let history = try (1...6).map { MessageRow(try message(UInt64($0))) }
        view.setHistory(history, end: Position(epoch: 1, offset: 6))
        view.handle(try message(6))
        let bytes = view.dequeueUpdate(size: .max)
        let update = try JSONValue(parsing: Data(try #require(bytes)))
        let positions = update["rows"]?.arrayValue?.compactMap { $0["position"]?.stringValue }
        #expect(positions == (1...8).map { "1:\($0)" })
        #expect(!view.hasNews)
    }

    @Test("A page is informed that the journal has been read, even if it has no row")
    func noHistory() throws {
        var view = MessagesView(MessageSelection(), loadsHistory: true)
        #expect(view.dequeueUpdate(size: .max) == nil)
        view.setHistory([], end: Position(epoch: 1, offset: 6))
        let first = view.dequeueUpdate(size: .max)
        #expect(first == Array("{}".utf8))
        #expect(view.dequeueUpdate(size: .max) == nil)
    }

    @Test("An update has the rows since the last one, and the totals of their types")
    func totals() throws {
        var view = MessagesView(MessageSelection(), loadsHistory: false)
        for offset in 1...3 { view.handle(try message(UInt64(offset))) }
        let bytes = view.dequeueUpdate(size: .max)
        let update = try JSONValue(parsing: Data(try #require(bytes)))
        #expect(update["rows"]?.arrayValue?.compactMap { $0["position"]?.stringValue } == ["1:1", "1:2", "1:3"])
        #expect(update.value(at: ["counts", "event.Tick"]) == 3)
    }
}

@Suite("Position of the observer in the journal")
struct BusObserverTests {
    private let observer = BusObserver(run: "r")

    private func end(_ offset: UInt64, epoch: UInt64 = 1) -> Position { Position(epoch: epoch, offset: offset) }

    @Test("A new subscription starts where the last one has delivered everything")
    func resumes() async throws {
        #expect(await observer.begin(at: end(5), []) == end(5))
        await observer.handle(Delivery(try message(6)))
        #expect(await observer.begin(at: end(9), []) == end(6))
    }

    @Test("A new subscription starts at the end of a journal that was replaced or has lost its last messages")
    func lost() async throws {
        _ = await observer.begin(at: end(5), [])
        await observer.handle(Delivery(try message(6)))
        #expect(await observer.begin(at: end(4), []) == end(4), "the bus would refuse position 6 for ever")
        #expect(await observer.begin(at: end(7, epoch: 2), []) == end(7, epoch: 2))
    }
}
