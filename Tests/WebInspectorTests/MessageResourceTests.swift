import Contracts
import EventBus
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPTypes
import Monitor
import PageTestSupport
import Support
import Testing

@testable import WebInspector

@Suite("Messages of the page", .timeLimit(.minutes(2)))
struct MessageResourceTests {
    private static func tick(_ count: Int, _ type: String = "event.Tick", bus: EventBus) async throws -> [Envelope] {
        var sent: [Envelope] = []
        for number in 0..<count {
            let attributes = Attributes(type: try #require(MessageType(type)), source: "clock/1")
            var message = Envelope(attributes: attributes, data: Data(#"{"number":\#(number)}"#.utf8))
            message.position = try await bus.publish(Batch([message]))
            sent.append(message)
        }
        return sent
    }

    private func numbers(_ rows: JSONValue?) -> [String] {
        rows?.arrayValue?.compactMap { $0["summary"]?.stringValue } ?? []
    }

    @Test("The journal can be read in pages: the newest, those before a position, and a stretch")
    func pages() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            let ticks = try await Self.tick(10, bus: bus)
            _ = try await Self.tick(3, "event.Tock", bus: bus)
            let selection =
                #"{"types":["event.Tick"]}"#.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let path = "/api/messages?selection=\(selection)"
            let newest = try await page.get("\(path)&limit=4").json
            #expect(numbers(newest["rows"]) == (6..<10).map { #"{"number":\#($0)}"# })
            #expect(newest["more"] == true)
            let before = try #require(ticks[6].position).pageText
            let earlier = try await page.get("\(path)&limit=200&before=\(before)").json
            #expect(numbers(earlier["rows"]) == (0..<6).map { #"{"number":\#($0)}"# })
            #expect(earlier["more"] == false)
            let after = try #require(ticks[1].position).pageText
            let stretch = try await page.get("\(path)&after=\(after)&before=\(before)&limit=3").json
            #expect(numbers(stretch["rows"]) == (2..<5).map { #"{"number":\#($0)}"# })
            #expect(stretch["more"] == true)
            #expect(stretch["next"] == .string(try #require(ticks[4].position).pageText))
            let all = try await page.get("\(path)&after=\(after)&before=\(before)").json
            #expect(all["more"] == false && all["next"] == .null)
        }
    }

    @Test("A forward search ends after a number of messages, and reports where the rest begins")
    func searchLimit() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        var ticks = try await Self.tick(1, bus: bus)
        _ = try await Self.tick(10, "event.Tock", bus: bus)
        ticks += try await Self.tick(1, bus: bus)
        let archive = MessageArchive(bus: bus, searchLimit: 5)
        let end = try await bus.inspect.end()
        let selection = MessageSelection(types: [try #require(MessagePattern("event.Tick"))])
        var (rows, counts, next) = ([MessageRow](), [Int](), Position(epoch: end.epoch, offset: 0) as Position?)
        while let start = next {
            let page = try await archive.first(200, selection, after: start, through: end)
            rows += page.rows
            counts.append(page.rows.count)
            #expect(page.hasMore == (page.next != nil))
            next = page.next
        }
        #expect(rows.map(\.position) == ticks.map(\.position))
        #expect(counts == [1, 0, 1])
    }

    @Test("A view can begin with the newest messages, and continues live")
    func beginning() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            _ = try await Self.tick(5, bus: bus)
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            #expect(try await stream.next()?.name == "hello")
            let selection: JSONValue = ["kinds": ["event"], "where": ["data.number != 3"]]
            let answer = try await page.post(
                "/api/stream/abcdefgh/views",
                [
                    "open": [
                        ["id": "all", "kind": "messages", "selection": selection, "from": "last"],
                        ["id": "some", "kind": "messages", "selection": selection, "from": "now"],
                    ]
                ])
            #expect(answer.status == .noContent, "\(answer.text)")
            _ = try await Self.tick(1, bus: bus)
            var rows: [String: [String]] = [:]
            while rows["all"]?.count != 5 || rows["some"]?.count != 1 {
                let views = try #require(try await stream.next()).data["views"]?.objectValue ?? [:]
                for (view, update) in views { rows[view, default: []] += numbers(update["rows"]) }
            }
            #expect(rows["all"] == [0, 1, 2, 4, 0].map { #"{"number":\#($0)}"# })
            #expect(rows["some"] == [#"{"number":0}"#])
        }
    }

    @Test("A message has its attributes, its data with all digits, and the former version")
    func detail() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            var attributes = Attributes(type: MessageType(kind: .document, name: "Cart"), source: "shop/1")
            attributes.key = "it'\u{301}s"
            var last: Envelope?
            for data in [#"{"total":1}"#, #"{"total":12345678901234567890.10}"#] {
                attributes.id = MessageID.make()
                var message = Envelope(attributes: attributes, data: Data(data.utf8))
                message.position = try await bus.publish(Batch([message]))
                last = message
            }
            let message = try #require(last)
            let position = try #require(message.position).pageText
            let answer = try await page.get("/api/messages/\(position.replacing(":", with: "%3A"))")
            #expect(answer.status == .ok)
            #expect(answer.text.contains(#""data":{"total":12345678901234567890.10}"#))
            let json = answer.json
            #expect(json.value(at: "attributes.id") == .string(message.id))
            #expect(json.value(at: "attributes.key") == "it'\u{301}s")
            #expect(json["before"] == ["total": 1])
            #expect(json.value(at: "row.position") == .string(position))
            #expect(json["cut"] == false)
            // For Swift, the quote and the accent after it are one Character, which is not a quote.
            let command = try #require(json["command"]?.stringValue).unicodeScalars
            #expect(command.reversed().starts(with: "--key 'it'\\''\u{301}s'".unicodeScalars.reversed()))
        }
    }

    @Test("Data are published as the page has written them, and again as they were published")
    func exactData() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            var json = #"{"n":12345678901234567890,"d":1.10,"b":{"z":1,"a":2},"a":1,"a":2,"s":"\u0041"}"#
            for _ in 0..<2 {
                let body = Data(
                    #"{"type":"event.Tick","check":false,"data": \#(json.replacing(",", with: " , "))}"#.utf8)
                let headers: HTTPFields = [.contentType: "application/json", .segue: "1"]
                let sent = try await page.send(.post, "/api/messages", headers, body)
                #expect(sent.status == .ok, "\(sent.text)")
                let rows = try await page.get("/api/messages").json["rows"]?.arrayValue
                let position = try #require(rows?.last?["position"]?.stringValue)
                let detail = try await page.get("/api/messages/\(position)").json
                #expect(detail["json"] == .string(json))
                json = detail["json"]?.stringValue ?? ""
            }
        }
    }

    @Test("The command to copy has no control characters, and Bash reads the same words from it")
    func command() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            var attributes = Attributes(type: MessageType(kind: .event, name: "Tick"), source: "shop/1")
            attributes.device = "a'\\\u{1B}]0;T\u{7}\n\u{9B}b"
            let data = Data("{\"x\":\"\u{9B}'\u{202E}\"}".utf8)
            let position = try await bus.publish(Batch([Envelope(attributes: attributes, data: data)])).pageText
            let command = try await page.get("/api/messages/\(position)").json["command"]?.stringValue
            #expect(
                command
                    == #"segue send event.Tick '{"x":"\u009b'\''\u202e"}' --device $'a\'\\\033]0;T\007\012\302\233b'"#)
        }
    }

    @Test("A transient message has a row without a position and with its data, and is counted")
    func transient() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let view: JSONValue = ["id": "m", "kind": "messages", "from": "last"]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .noContent)
            let type = MessageType(kind: .event, name: "Tick")
            let messages = ["one", "two/2"].map { id in
                Envelope(
                    attributes: Attributes(type: type, source: "clock/1", id: id), data: Data(#"{"n":1.50}"#.utf8))
            }
            try await bus.publish(Batch([messages[0]]))
            try await bus.publishTransient([messages[1]])
            var (rows, count) = ([JSONValue](), 0)
            while rows.count < 2 {
                let update = try #require(try await stream.next()).data.value(at: "views.m")
                rows += update?["rows"]?.arrayValue ?? []
                count = update?["counts"]?.objectValue?["event.Tick"]?.integerValue ?? count
            }
            #expect(rows.map { $0["id"] } == ["one", "two/2"] && count == 2)
            #expect(rows[0]["position"]?.stringValue != nil && rows[1]["position"] == .null)
            let detail = try await page.get("/api/transient/two%2F2")
            #expect(detail.text.contains(#""data":{"n":1.50}"#))
            #expect(detail.json.value(at: "row.type") == "event.Tick")
            #expect(try await page.get("/api/transient/one").status == .notFound)
            let recorded = try await page.get("/api/messages").json
            #expect(recorded["rows"]?.arrayValue?.count == 1)
        }
    }

    @Test("Large data are cut, unless all of them are requested")
    func cut() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            let attributes = Attributes(type: MessageType(kind: .event, name: "Large"), source: "shop/1")
            let data = Data(#"{"text":"\#(String(repeating: "a", count: 1 << 20))"}"#.utf8)
            let position = try await bus.publish(Batch([Envelope(attributes: attributes, data: data)])).pageText
            let cut = try await page.get("/api/messages/\(position)").json
            #expect(cut["cut"] == true && cut["data"] == .null)
            #expect(cut["text"]?.stringValue?.utf8.count == MessageDetail.dataLimit)
            let summary = try #require(cut.value(at: "row.summary")?.stringValue)
            #expect(summary.unicodeScalars.count == 200)
            let full = try await page.get("/api/messages/\(position)?full=1").json
            #expect(full["cut"] == false)
            #expect(full.value(at: "data.text")?.stringValue?.utf8.count == 1 << 20)
        }
    }

    @Test("A story has its messages, and the processes that have answered each of them")
    func story() async throws {
        let hub = InMemoryHub(maximumGap: 1000)
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: hub)
        try await withGateway(bus) { page in
            let first = try await bus.publish(DomainEvent.LaunchFinished())
            let service = EventBus.inMemory(source: "service/1", hub: hub)
            let second = try await service.publish(DomainEvent.DeepLinkReceived(url: "a:b"), causedBy: first)
            _ = try await Self.tick(5, bus: bus)
            let story = try await page.get("/api/story/\(first.id)").json
            let messages = try #require(story["messages"]?.arrayValue)
            #expect(messages.map { $0["id"]?.stringValue } == [first.id, second.id])
            #expect(messages[0].value(at: "handledBy.0.source") == "service/1")
            #expect(messages[1]["handledBy"] == [])
            #expect(story["complete"] == true)
        }
    }

    @Test("A message is published if it matches the contracts")
    func publish() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            let contract = Document.ServiceContract(
                name: "shop", version: "1", instance: "1",
                receives: [
                    MessageContract(
                        type: MessageType(kind: .command, name: "Buy"), data: .object(requiring: ["id": .string]))
                ], sends: [])
            try await bus.publish(contract)
            let types = try await page.get("/api/types").json
            #expect(types.value(at: "types.0.type") == "command.Buy")
            #expect(types.value(at: "types.0.receivers") == ["shop"])
            #expect(types.value(at: "types.0.schema.type") == "object")
            let wrong = try await page.post("/api/messages", ["type": "command.Buy", "data": ["id": 1]])
            #expect(wrong.status == .badRequest && wrong.json.value(at: "error.code") == "invalid-data")
            let unknown = try await page.post("/api/messages", ["type": "command.Bye", "data": [:]])
            #expect(unknown.status == .badRequest)
            #expect(unknown.json.value(at: "error.message")?.stringValue?.contains("command.Buy") == true)
            let unchecked = try await page.post(
                "/api/messages", ["type": "command.Bye", "data": [:], "check": false])
            #expect(unchecked.status == .ok)
            let sent = try await page.post(
                "/api/messages",
                ["type": "command.Buy", "session": "ann", "platform": "ios", "data": ["id": "1"]])
            #expect(sent.status == .ok)
            let id = try #require(sent.json["id"]?.stringValue)
            let story = try await page.get("/api/story/\(id)").json
            #expect(story.value(at: "messages.0.session") == "ann")
            #expect(story.value(at: "messages.0.platform") == "ios")
            #expect(story.value(at: "messages.0.source") == "web-gateway/1")
        }
    }

    @Test("A dead letter is sent again or dropped only once")
    func deadLetters() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1", hub: InMemoryHub(maximumGap: 1000))
        try await withGateway(bus) { page in
            let deadLetters = try await Self.tick(2, bus: bus)
            let claim = try await bus.engine.claim(consumer: "shop", as: .exclusive)
            for deadLetter in deadLetters {
                let checkpoint = try #require(Checkpoint(claim: claim, handled: Delivery(deadLetter)))
                let rejection = Rejection(code: "no.use", reason: "it is of no use", attempts: 3)
                try await bus.publish(Batch([], checkpoint: checkpoint, rejection: rejection))
            }
            let listed = try await page.get("/api/dead").json
            #expect(listed["letters"]?.arrayValue?.count == 2)
            #expect(listed.value(at: "letters.0.reason") == "it is of no use")
            #expect(listed.value(at: "letters.0.row.type") == "event.Tick")
            #expect(listed.value(at: "letters.1.row.size") == .integer(deadLetters[1].data.count))
            #expect(listed.value(at: "more") == false)
            let ids = listed["letters"]?.arrayValue?.compactMap(\.["id"]?.integerValue) ?? []
            let rest = try await page.get("/api/dead?after=\(ids[0])").json
            #expect(rest["letters"]?.arrayValue?.compactMap(\.["id"]?.integerValue) == [ids[1]])
            #expect(try await page.get("/api/dead?after=no").status.code == 400)
            func settle(_ action: String, _ deadLetter: Int) async throws -> Int {
                let body: JSONValue = ["action": .string(action), "id": .integer(ids[deadLetter])]
                return try await page.post("/api/dead", body).status.code
            }
            #expect(try await settle("burn", 0) == 400)
            #expect(try await settle("resend", 0) == 204)
            #expect(try await settle("resend", 0) == 409)
            #expect(try await settle("drop", 1) == 204)
            #expect(try await settle("drop", 1) == 409)
            #expect(try await page.get("/api/dead").json == ["letters": [], "more": false])
            let story = try await page.get("/api/story/\(deadLetters[0].id)").json
            #expect(story["messages"]?.arrayValue?.count == 2, "the copy belongs to the story")
        }
    }
}
