import EventBus
import Foundation
import Monitor
import Support
import Testing

@testable import WebDevice

/// A message of a journal, as a view receives it.
func message(
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

extension PageStream {
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
}

@Suite("Budget of a stream")
struct SendBudgetTests {
    @Test("A stream has at most 60 updates a second")
    func frequency() {
        var budget = SendBudget()
        var now: Duration = .zero
        var updates = 0
        while now < .seconds(1) {
            let wait = budget.wait(at: now)
            if wait == .zero {
                budget.spend(10, at: now)
                updates += 1
            }
            now += max(wait, .microseconds(1))
        }
        #expect((55...61).contains(updates), "\(updates)")
    }

    @Test("A stream has at most 512 KiB a second on average, even if one update is large")
    func bytes() {
        var budget = SendBudget()
        var now: Duration = .zero
        var sent = 0
        while now < .seconds(10) {
            let wait = budget.wait(at: now)
            if wait == .zero {
                let size = sent == 0 ? 1 << 20 : budget.available
                budget.spend(size, at: now)
                sent += size
            }
            now += max(wait, .microseconds(1))
        }
        #expect(sent <= 11 * SendBudget.bytesPerSecond)
        #expect(sent >= 9 * SendBudget.bytesPerSecond)
    }
}

@Suite("Sent events")
struct SentEventsTests {
    @Test("The events after an id are kept up to a limit")
    func ring() {
        var events = SentEvents(run: "r")
        let first = events.lastID
        let sent = (0..<3).map { events.add("update", data: Array("\($0)".utf8)) }
        #expect(events.events(after: first) == sent)
        #expect(events.events(after: "r-2") == [sent[2]])
        #expect(events.events(after: "r-3") == [])
        #expect(String(decoding: sent[0], as: UTF8.self) == "id: r-1\nevent: update\ndata: 0\n\n")
        for _ in 0..<SentEvents.countLimit { _ = events.add("update", data: []) }
        #expect(events.events(after: "r-2") == nil)
        #expect(events.events(after: "r-3")?.count == SentEvents.countLimit)
    }

    @Test("An id of another process or of the future is unknown", arguments: ["", "x", "s-1", "r-2", "r--1", "r-x"])
    func unknown(id: String) {
        var events = SentEvents(run: "r")
        _ = events.add("update", data: [])
        #expect(events.events(after: id) == nil)
    }

    @Test("The size of the kept events is limited")
    func size() {
        var events = SentEvents(run: "r")
        _ = events.add("update", data: Array(repeating: 0x31, count: SentEvents.sizeLimit))
        #expect(events.events(after: "r-0") == nil)
        #expect(events.events(after: "r-1") == [])
    }
}

@Suite("Streams")
struct PageStreamTests {
    private func next(_ stream: inout PageStream, at now: Duration) throws -> (
        name: String, id: String, data: JSONValue
    ) {
        try event(stream.step(at: now))
    }

    private func event(_ step: PageStream.Step) throws -> (name: String, id: String, data: JSONValue) {
        guard case .send(let bytes) = step else {
            Issue.record("\(step) sends nothing")
            return ("", "", .null)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let match = try #require(text.wholeMatch(of: #/id: (.*)\nevent: (.*)\ndata: (.*)\n\n/#), "\(text)")
        return (String(match.2), String(match.1), try JSONValue(parsing: Data(match.3.utf8)))
    }

    private func stream() throws -> PageStream {
        var stream = PageStream(run: "r", now: .zero)
        let isResumed = stream.connect(lastEventID: nil, hello: [:], now: .zero)
        #expect(!isResumed)
        let hello = try next(&stream, at: .zero)
        #expect(hello.name == "hello")
        #expect(hello.data == ["resumed": false])
        stream.open("m", .init(messages: MessagesView(MessageSelection(), loadsHistory: false)))
        return stream
    }

    private func positions(_ update: JSONValue) -> [String] {
        update.value(at: "views.m.rows")?.arrayValue?.compactMap { $0["position"]?.stringValue } ?? []
    }

    @Test("Changes are merged into one update")
    func merged() throws {
        var stream = try stream()
        let before = stream.step(at: .seconds(1))
        #expect(before == .idle)
        for offset in 1...3 { stream.handle(try message(UInt64(offset))) }
        let update = try next(&stream, at: .seconds(1))
        #expect(update.name == "update")
        #expect(positions(update.data) == ["1:1", "1:2", "1:3"])
        #expect(update.data.value(at: ["views", "m", "counts", "event.Tick"]) == 3)
        let after = stream.step(at: .seconds(1))
        #expect(after == .idle)
        stream.handle(try message(4))
        let pause = stream.step(at: .seconds(1))
        #expect(pause == .wait(SendBudget.interval))
    }

    @Test("No event is lost or delivered twice after a broken connection")
    func resumed() throws {
        var stream = try stream()
        var received: [String] = []
        for offset in 1...3 {
            stream.handle(try message(UInt64(offset)))
            received += positions(try next(&stream, at: .seconds(offset)).data)
        }
        stream.disconnect(now: .seconds(4))
        stream.handle(try message(4))
        // The browser has received the first update only.
        let isResumed = stream.connect(lastEventID: "r-1", hello: [:], now: .seconds(5))
        #expect(isResumed)
        let hello = try next(&stream, at: .seconds(5))
        #expect(hello.data == ["resumed": true])
        let second = positions(try next(&stream, at: .seconds(5)).data)
        #expect(second == ["1:2"])
        let third = positions(try next(&stream, at: .seconds(5)).data)
        #expect(third == ["1:3"])
        let fourth = positions(try next(&stream, at: .seconds(6)).data)
        #expect(fourth == ["1:4"])
        #expect(received == ["1:1", "1:2", "1:3"])
    }

    @Test("An unknown id makes the page open its views again")
    func unknown() throws {
        var stream = try stream()
        let isResumed = stream.connect(lastEventID: "other-1", hello: [:], now: .seconds(5))
        #expect(!isResumed)
        #expect(stream.viewCount == 0)
    }

    @Test("A connection that ends before its first step does not keep the stream")
    func endedEarly() throws {
        var stream = try stream()
        _ = stream.connect(lastEventID: nil, hello: [:], now: .seconds(5))
        #expect(stream.isOver(at: .seconds(5) + PageStream.patience))
        _ = stream.step(at: .seconds(6))
        #expect(!stream.isOver(at: .seconds(6) + PageStream.patience))
    }

    @Test("A silent connection receives a comment, and a stream without a connection ends")
    func silence() throws {
        var stream = try stream()
        let silent = stream.step(at: .seconds(14))
        #expect(silent == .idle)
        let comment = stream.step(at: .seconds(15))
        #expect(comment == .send(Array(": alive\n\n".utf8)))
        #expect(!stream.isOver(at: .seconds(1000)))
        stream.disconnect(now: .seconds(20))
        #expect(!stream.isOver(at: .seconds(79)))
        #expect(stream.isOver(at: .seconds(80)))
    }

    @Test("An update contains only values that have changed")
    func changes() throws {
        var stream = try stream()
        stream.open("p", .init(processes: ChangedValues()))
        stream.setProcesses([("dead", Array("0".utf8)), ("flows", Array("[]".utf8))])
        let first = try next(&stream, at: .seconds(1))
        #expect(first.data == ["views": ["p": ["dead": 0, "flows": []]]])
        stream.setProcesses([("dead", Array("1".utf8)), ("flows", Array("[]".utf8))])
        let second = try next(&stream, at: .seconds(2))
        #expect(second.data == ["views": ["p": ["dead": 1]]])
        stream.setBus("away")
        let bus = try next(&stream, at: .seconds(3))
        #expect(bus.name == "bus" && bus.data == ["bus": "away"])
    }
}

@Suite("Position of the hub in the journal")
struct HubPositionTests {
    private let hub = Hub(Hub.Identity(run: "r", stack: "segue", isReadOnly: false)) { .zero }

    private func end(_ offset: UInt64, epoch: UInt64 = 1) -> Position { Position(epoch: epoch, offset: offset) }

    @Test("A new subscription starts where the last one has delivered everything")
    func resumes() async throws {
        #expect(await hub.begin(at: end(5), []) == end(5))
        await hub.handle(Delivery(try message(6)))
        #expect(await hub.begin(at: end(9), []) == end(6))
    }

    @Test("A new subscription starts at the end of a journal that was replaced or has lost its last messages")
    func lost() async throws {
        _ = await hub.begin(at: end(5), [])
        await hub.handle(Delivery(try message(6)))
        #expect(await hub.begin(at: end(4), []) == end(4), "the bus would refuse position 6 for ever")
        #expect(await hub.begin(at: end(7, epoch: 2), []) == end(7, epoch: 2))
    }
}
