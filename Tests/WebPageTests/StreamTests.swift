import Foundation
import SignIn
import Support
import Testing

@testable import WebPage

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

/// A view of numbers.
private struct Numbers: ViewState {
    private var pending: [Int] = []

    var hasNews: Bool { !pending.isEmpty }

    mutating func add(_ number: Int) { pending.append(number) }

    mutating func dequeueUpdate(size: Int) -> [UInt8]? {
        defer { pending = [] }
        return hasNews ? Array(#"{"numbers":\#(pending)}"#.utf8) : nil
    }
}

@Suite("Streams")
struct PageStreamTests {
    private let view = PageView(Numbers())

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
        stream.open("n", view)
        return stream
    }

    private func add(_ number: Int) { view.change { $0.add(number) } }

    private func numbers(_ update: JSONValue) -> [Int] {
        update.value(at: "views.n.numbers")?.arrayValue?.compactMap(\.integerValue) ?? []
    }

    @Test("Changes are merged into one update")
    func merged() throws {
        var stream = try stream()
        let before = stream.step(at: .seconds(1))
        #expect(before == .idle)
        for number in 1...3 { add(number) }
        let update = try next(&stream, at: .seconds(1))
        #expect(update.name == "update")
        #expect(numbers(update.data) == [1, 2, 3])
        let after = stream.step(at: .seconds(1))
        #expect(after == .idle)
        add(4)
        let pause = stream.step(at: .seconds(1))
        #expect(pause == .wait(SendBudget.interval))
    }

    @Test("No event is lost or delivered twice after a broken connection")
    func resumed() throws {
        var stream = try stream()
        var received: [Int] = []
        for number in 1...3 {
            add(number)
            received += numbers(try next(&stream, at: .seconds(number)).data)
        }
        stream.disconnect(now: .seconds(4))
        add(4)
        // The browser has received the first update only.
        let isResumed = stream.connect(lastEventID: "r-1", hello: [:], now: .seconds(5))
        #expect(isResumed)
        let hello = try next(&stream, at: .seconds(5))
        #expect(hello.data == ["resumed": true])
        let second = numbers(try next(&stream, at: .seconds(5)).data)
        #expect(second == [2])
        let third = numbers(try next(&stream, at: .seconds(5)).data)
        #expect(third == [3])
        let fourth = numbers(try next(&stream, at: .seconds(6)).data)
        #expect(fourth == [4])
        #expect(received == [1, 2, 3])
    }

    @Test("An unknown id makes the page open its views again")
    func unknown() throws {
        var stream = try stream()
        let isResumed = stream.connect(lastEventID: "other-1", hello: [:], now: .seconds(5))
        #expect(!isResumed)
        #expect(stream.viewCount == 0 && view.isClosed)
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

    @Test("A page is informed when the bus has gone")
    func bus() throws {
        var stream = try stream()
        stream.setBus("away")
        let bus = try next(&stream, at: .seconds(3))
        #expect(bus.name == "bus" && bus.data == ["bus": "away"])
    }
}

@Suite("Views of a hub")
struct HubTests {
    private let hub = Hub(Hub.Identity(run: "r", stack: "segue", isReadOnly: false)) { .zero }
    private let name = ViewName(stream: StreamName("abcdefgh", for: .operator), id: "n")

    @Test("A view is closed when the page closes or replaces it, and when the gateway stops")
    func closed() async throws {
        _ = try await hub.connect(name.stream, lastEventID: nil)
        let views = (0..<3).map { _ in PageView(Numbers()) }
        try await hub.open(views[0], as: name)
        try await hub.open(views[1], as: name)
        #expect(views.map(\.isClosed) == [true, false, false])
        await hub.close(views[0], named: name)
        #expect(await hub.view(name) === views[1], "the page has replaced the first view")
        try await hub.close(name)
        try await hub.open(views[2], as: name)
        #expect(views.map(\.isClosed) == [true, true, false])
        await hub.close()
        #expect(views[2].isClosed)
    }

    @Test("Sessions together leave streams to operators")
    func reserve() async throws {
        func connect(_ number: Int, for access: PageAccess) async throws {
            _ = try await hub.connect(StreamName("abcdef\(number)", for: access), lastEventID: nil)
        }
        let (limit, all) = (Hub.capacity.session, Hub.capacity.sessions)
        for number in 0..<all { try await connect(number, for: .session("\(number / limit)")) }
        await #expect(throws: RequestError.self) { try await connect(0, for: .session("anna")) }
        for number in all..<Hub.capacity.all { try await connect(number, for: .operator) }
    }

    @Test("A view that cannot be opened is closed, and nothing is kept for it")
    func refused() async throws {
        let view = PageView(Numbers())
        await #expect(throws: RequestError.self) { try await hub.open(view, as: name) }
        view.change { $0.add(1) }
        #expect(view.isClosed && !view.hasNews)
    }

    @Test("A change wakes the connection of the stream, and the connection sends it")
    func wakes() async throws {
        let connection = try await hub.connect(name.stream, lastEventID: nil)
        let view = PageView(Numbers())
        try await hub.open(view, as: name)
        #expect(await !hub.isShown(oneOf: [view]), "the connection has not taken a step")
        _ = await hub.step(connection)
        #expect(await hub.step(connection) == .idle)
        #expect(await hub.isShown(oneOf: [view]))
        var wakes = connection.wakes.makeAsyncIterator()
        _ = await wakes.next()
        view.change { $0.add(1) }
        #expect(await wakes.next() != nil)
        await hub.disconnect(connection)
        #expect(await !hub.isShown(oneOf: [view]))
    }
}
