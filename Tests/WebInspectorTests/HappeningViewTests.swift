import Contracts
import DeviceTestSupport
import EventBus
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPTypes
import Monitor
import Navigation
import PageTestSupport
import Support
import Testing
import WebPage

@testable import WebInspector

private let start = Date(timeIntervalSince1970: 1_772_368_496)

/// A message of a journal, published `milliseconds` after a tap with the id `tap`.
private func message(
    _ offset: UInt64, _ type: String, id: String? = nil, data: Data = Data("{}".utf8), source: String = "brewer/1",
    key: String? = nil, cause: String? = nil, platform: String? = nil, after milliseconds: Double = 0
) throws -> Envelope {
    var attributes = Attributes(
        type: try #require(MessageType(type)), source: source, id: id ?? "m\(offset)",
        time: start.addingTimeInterval(milliseconds / 1000))
    attributes.key = key
    attributes.platform = platform
    if let cause {
        attributes.causationID = cause
        attributes.correlationID = "tap"
    }
    return Envelope(attributes: attributes, data: data, position: Position(epoch: 1, offset: offset))
}

private func tap(_ offset: UInt64 = 1, data: String = #"{"id":"calm"}"#) throws -> Envelope {
    var message = try message(
        offset, "command.Choose", id: "tap", data: Data(data.utf8), source: "web/1", platform: "ios")
    message.attributes.device = "web-1"
    message.attributes.instance = "list-1"
    return message
}

/// The states of a phone before and after a push, and the flow, which knows the line of the rule.
private struct Phone {
    let flow: Document.Flow
    private let (list, detail): (NavigationSnapshot, NavigationSnapshot)

    init() throws {
        list = try .sample(revision: 1, root: "list")
        var pushed = try NavigationSnapshot.sample(revision: 2, root: "list", path: [.sample("detail", 2)])
        pushed.rule = "transitions[0]"
        detail = pushed
        flow = Document.Flow(
            platform: "ios", name: "shop", version: 1, hash: list.flow.hash, source: "",
            rules: ["transitions[0]": "shop.yaml:36"])
    }

    private func state(_ snapshot: NavigationSnapshot, _ offset: UInt64, cause: String?) throws -> Envelope {
        try message(
            offset, "document.NavigationState", data: JSONEncoder().encode(Document.NavigationState(snapshot)),
            source: "coordinator/1", key: "ios", cause: cause, after: 12)
    }

    func documents() throws -> [Envelope] {
        [
            try message(
                1, "document.Flow", data: JSONEncoder().encode(flow), source: "coordinator/1", key: "ios"),
            try state(list, 2, cause: nil),
        ]
    }

    func pushed(_ offset: UInt64) throws -> Envelope { try state(detail, offset, cause: "tap") }
}

extension HappeningsView {
    /// The next update, as the page reads it.
    fileprivate mutating func update(size: Int = .max) throws -> JSONValue? {
        try dequeueUpdate(size: size).map { try JSONValue(parsing: Data($0)) }
    }
}

private func words(_ update: JSONValue?) -> [String] {
    update?["rows"]?.arrayValue?.compactMap { $0["words"]?.stringValue } ?? []
}

@Suite("Happenings of the page", .timeLimit(.minutes(2)))
struct HappeningViewTests {
    @Test("A tap and the push that it caused are two rows of one story, and the push has its rule")
    func story() async throws {
        let phone = try Phone()
        var log = HappeningLog(run: "r")
        log.learn(try phone.documents())
        var view = HappeningsView(log)
        for message in [try tap(3), try phone.pushed(4)] { view.show(log.handle(message), hidden: log.hidden) }
        let rows = try #require(try view.update()?["rows"]?.arrayValue)
        try #require(rows.count == 2)
        #expect(rows[0]["kind"] == "origin" && rows[0]["manner"] == "tap" && rows[0]["actor"] == "ios list-1")
        #expect(rows[0]["words"] == "Choose id=calm")
        #expect(rows[0]["after"] == .null && rows[0]["position"] == "1:3" && rows[0]["platform"] == "ios")
        #expect(rows[1]["kind"] == "navigation" && rows[1]["words"] == "list → push detail-2")
        #expect(rows[1]["after"] == 12 && rows[1]["platform"] == "ios" && rows[1]["rule"] == "shop.yaml:36")
        #expect(rows.allSatisfy { $0["story"] == "tap" })
        #expect(rows[0]["cause"] == .null && rows[0]["key"] == .null)
        #expect(rows[1]["cause"] == "tap" && rows[1]["key"] == "transitions[0]")
    }

    @Test("Bookkeeping messages are counted, and have no row")
    func hidden() throws {
        var log = HappeningLog(run: "r")
        var view = HappeningsView(log)
        let first = try view.update()
        #expect(first == ["hidden": 0], "the page is told that there is nothing")
        for offset in 1...3 {
            let contract = try message(UInt64(offset), "document.ServiceContract")
            view.show(log.handle(contract), hidden: log.hidden)
        }
        let second = try view.update()
        #expect(second == ["hidden": 3])
        #expect(!view.hasNews)
    }

    @Test("A row that a message joins is sent again with the same id")
    func joined() throws {
        var log = HappeningLog(run: "r")
        var view = HappeningsView(log)
        func publish(_ offset: UInt64, after milliseconds: Double) throws -> JSONValue? {
            let event = try message(offset, "event.Brewed", cause: "tap", after: milliseconds)
            view.show(log.handle(event), hidden: log.hidden)
            return try view.update()?["rows"]?.arrayValue?.last
        }
        let first = try publish(1, after: 1)
        let second = try publish(2, after: 2)
        #expect(first?["messages"] == 1 && second?["messages"] == 2)
        #expect(first?["id"] == second?["id"] && second?["words"] == "Brewed · Brewed")
        // A page that has not received the first one gets the row once.
        view.show(log.handle(try message(3, "event.Brewed", cause: "tap", after: 3)), hidden: log.hidden)
        view.show(log.handle(try message(4, "event.Brewed", cause: "tap", after: 4)), hidden: log.hidden)
        let third = try view.update()
        #expect(words(third) == ["Brewed · Brewed · Brewed · Brewed"])
        // What the service does a second later is another row.
        let later = try publish(5, after: 1000)
        #expect(later?["messages"] == 1 && later?["id"] != first?["id"])
    }

    @Test("A row has a limited size, even if a service publishes forever")
    func bounded() throws {
        var log = HappeningLog(run: "r")
        for offset in 0..<UInt64(3 * Happenings.partLimit) {
            _ = log.handle(try message(offset, "event.Brewed", cause: "tap"))
        }
        #expect(log.rows.count == 3)
        let text = String(repeating: "a", count: 1 << 20)
        let error = ApplicationError(code: "x.y", message: text, severity: .error)
        let data = try JSONEncoder().encode(error)
        let row = log.handle(try message(1000, "error.ApplicationError", data: data, cause: "tap"))
        #expect(try #require(row).json.description.utf8.count < 2000)
    }

    @Test("The log keeps the newest rows, and a view that gets too many reports the number of skipped ones")
    func limits() throws {
        var log = HappeningLog(run: "r")
        var view = HappeningsView(log)
        for offset in 0..<UInt64(HappeningLog.limit + 7) {
            let event = try message(offset, "event.Tick", data: Data(#"{"number":\#(offset)}"#.utf8))
            view.show(log.handle(event), hidden: log.hidden)
        }
        #expect(log.rows.count == HappeningLog.limit)
        let first = try view.update(size: 1)
        #expect(first?["skipped"] == 7 && words(first) == ["Tick number=7"])
        let rest = try view.update()
        #expect(rest?["skipped"] == nil && words(rest).count == HappeningLog.limit - 1)
        // A page that opens later begins with what was kept.
        var other = HappeningsView(log)
        let kept = try other.update()
        #expect(words(kept).first == "Tick number=7" && words(kept).count == HappeningLog.limit)
    }

    @Test("Kept rows that are removed before a page has read them do not count as skipped")
    func keptRows() throws {
        var log = HappeningLog(run: "r")
        func happen(_ offset: Int) throws -> HappeningRow? {
            log.handle(try message(UInt64(offset), "event.Tick", data: Data(#"{"number":\#(offset)}"#.utf8)))
        }
        for offset in 0..<HappeningLog.limit { _ = try happen(offset) }
        var view = HappeningsView(log)
        for offset in 0..<7 { view.show(try happen(HappeningLog.limit + offset), hidden: log.hidden) }
        let first = try view.update()
        #expect(first?["skipped"] == nil && words(first).first == "Tick number=7")
    }

    @Test("The state of another journal is not the former state of a change")
    func anotherJournal() throws {
        let phone = try Phone()
        var log = HappeningLog(run: "r")
        log.learn(try phone.documents())
        _ = log.handle(try message(3, "document.ServiceContract"))
        log.forgetState()
        let row = log.handle(try phone.pushed(1))
        #expect(row?.json["words"] == "shows detail-2" && log.hidden == 1)
    }

    @Test("A document that is newer than the position is not the former state")
    func newer() async throws {
        let phone = try Phone()
        let observer = BusObserver(run: "r")
        let pushed = try phone.pushed(4)
        _ = await observer.begin(at: Position(epoch: 1, offset: 3), try phone.documents() + [pushed])
        let view = await observer.makeHappeningsView()
        await observer.handle(Delivery(pushed))
        let bytes = try #require(view.dequeueUpdate(size: .max))
        #expect(words(try JSONValue(parsing: Data(bytes))) == ["list → push detail-2"])
    }

    @Test("A page receives happenings that are compared with the former state, and hostile text as text")
    func stream() async throws {
        let phone = try Phone()
        let bus = EventBus.inMemory(source: "web-gateway/1")
        for document in try phone.documents() { try await bus.publish(Batch([document])) }
        try await withGateway(bus) { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let view: JSONValue = ["id": "h", "kind": "happenings"]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .noContent)
            let first = try await stream.next()?.data.value(at: "views.h")
            #expect(first?["rows"] == nil && first?["hidden"] == 0)
            let markup = #"<img src=x onerror=alert(1)>\u202e"#
            try await bus.publish(Batch([try tap(data: #"{"id":"\#(markup)"}"#)]))
            try await bus.publish(Batch([try phone.pushed(4)]))
            var rows: [JSONValue] = []
            while rows.count < 2, let event = try await stream.next() {
                rows += event.data.value(at: "views.h.rows")?.arrayValue ?? []
            }
            #expect(rows.map { $0["manner"] } == ["tap", ""])
            let words = try #require(rows.first?["words"]?.stringValue)
            #expect(words.contains("<img src=x onerror=alert(1)>"))
            #expect(!words.unicodeScalars.contains("\u{202E}"))
            #expect(rows.last?["words"] == "list → push detail-2" && rows.last?["rule"] == "shop.yaml:36")
        }
    }
}
