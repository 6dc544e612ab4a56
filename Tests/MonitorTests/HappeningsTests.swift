import Contracts
import EventBus
import Foundation
import Navigation
import Support
import Testing

@testable import Monitor

@Suite("Happenings on a bus")
struct HappeningsTests {
    /// Publishes messages with times of their own, and makes their happenings.
    private struct Bus {
        private(set) var happenings = Happenings()
        private(set) var told: [Happening] = []
        private var count = 0
        let start = Date(timeIntervalSince1970: 1_000_000)

        /// Handles a message of a process, `milliseconds` after the first, which another message may have caused.
        @discardableResult
        mutating func publish(
            _ type: String, _ data: String = "{}", of source: String, at milliseconds: Int = 0,
            because cause: Envelope? = nil, _ change: (inout Attributes) -> Void = { _ in }
        ) throws -> Envelope {
            count += 1
            var attributes = Attributes(type: try #require(MessageType(type)), source: source, id: "m\(count)")
            attributes.time = start.addingTimeInterval(Double(milliseconds) / 1000)
            attributes.correlationID = cause?.attributes.correlationID ?? attributes.id
            attributes.causationID = cause?.id
            change(&attributes)
            let message = Envelope(attributes: attributes, data: Data(data.utf8))
            if let happening = happenings.handle(message) { told.append(happening) }
            return message
        }

        mutating func learn(_ document: Envelope) { happenings.learn(document) }

        var parts: [String] { (told + [happenings.pending].compactMap(\.self)).flatMap(\.parts) }

        /// The lines for a terminal of this width, with the colours left out.
        mutating func lines(columns: Int? = nil) -> [String] {
            if let last = happenings.flush() { told.append(last) }
            var format = HappeningFormat(zone: .utc)
            return told.flatMap { format.lines($0, columns: columns) }.map {
                $0.rendered(isColored: false, columns: columns).description
            }
        }
    }

    private func tap(_ bus: inout Bus, at milliseconds: Int = 0) throws -> Envelope {
        try bus.publish("command.ItemSelected", #"{"itemID":"a b","count":2}"#, of: "device/1", at: milliseconds) {
            ($0.platform, $0.device, $0.instance) = ("ios", "phone", "list-1")
        }
    }

    private func state(_ flow: Flow, _ inputs: [Machine.Input] = []) throws -> String {
        var machine = Machine(flow: flow)
        for input in inputs { _ = machine.handle(input) }
        return String(decoding: try JSONWriter.data(of: machine.snapshot), as: UTF8.self)
    }

    private func shop() throws -> Flow {
        try Flow("shop", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list", sends: ["command.ItemSelected"])
            Flow.Screen("item")
            Flow.Transition(
                on: "command.ItemSelected", do: [.push(.screen("item", ["count": "${data.count}"]))],
                file: "flows/shop.yaml", line: 12)
        }
    }

    @Test("A tap, the results of a service, and the change of the screens with its rule are happenings")
    func story() throws {
        var bus = Bus()
        let flow = try shop()
        let document = Document.Flow(
            platform: "ios", name: "shop", version: 1, hash: flow.hash, source: "",
            rules: flow.ruleLocations.mapValues(\.description))
        try bus.publish(
            "document.Flow", String(decoding: JSONWriter.data(of: document), as: UTF8.self),
            of: "navigation-coordinator/1"
        ) { $0.key = "ios" }
        try bus.publish("document.NavigationState", try state(flow), of: "navigation-coordinator/1") { $0.key = "ios" }
        let tap = try tap(&bus, at: 1000)
        try bus.publish("document.Cart", #"{"count":2,"id":"c"}"#, of: "cart-service/7", at: 1003, because: tap)
        try bus.publish("event.ItemAdded", #"{"count":2}"#, of: "cart-service/7", at: 1003, because: tap)
        let input = Machine.Input(id: "m3", type: "command.ItemSelected", data: ["count": 2])
        try bus.publish(
            "document.NavigationState", try state(flow, [input]), of: "navigation-coordinator/1", at: 1007, because: tap
        ) { $0.key = "ios" }
        #expect(
            bus.lines(columns: 100).suffix(3) == [
                #"13:46:41.000  tap     ios list-1           ItemSelected count=2 itemID="a b"                     #m3"#,
                "       +3 ms          cart-service         Cart count=2 id=c · ItemAdded count=2",
                "       +7 ms          ios                  list → push item-2 {count: 2}                "
                    + "shop.yaml:12",
            ])
        #expect(bus.told.last?.messages == ["m6"])
    }

    @Test("A document's happening has only the changed fields, or the withdrawal")
    func documents() throws {
        var bus = Bus()
        for data in [#"{"a":1,"b":"x"}"#, #"{"a":2,"b":"x"}"#, ""] {
            try bus.publish("document.Cart", data, of: "cart/1") { $0.key = "k" }
        }
        #expect(bus.lines().map { $0.dropFirst(43) } == ["Cart[k] a=1 b=x", "Cart[k] a=2", "Cart[k] withdrawn"])
    }

    /// Publishes a contract with the line of `document.Cart`.
    private func declare(_ line: String?, on bus: inout Bus) throws {
        let cart = MessageContract(type: MessageType(kind: .document, name: "Cart"), line: line)
        let contract = Document.ServiceContract(name: "cart", version: "1", instance: "1", receives: [], sends: [cart])
        try bus.publish(
            "document.ServiceContract", String(decoding: JSONWriter.data(of: contract), as: UTF8.self),
            of: "cart/1")
    }

    @Test("A document's happening has the contract's line, or the changed fields if no value of the line changed")
    func line() throws {
        var bus = Bus()
        try declare("${count} of ${count} for ${guest.name}", on: &bus)
        for data in [
            #"{"count":1,"guest":{"name":"Ada L"},"note":"a"}"#, #"{"count":1,"guest":{"name":"Ada L"},"note":"b"}"#,
            #"{"count":2,"guest":{"name":"Ada L"},"note":"c"}"#, #"{"count":2,"guest":{"name":"Bo"},"note":"c"}"#,
            #"{"guest":{"name":"Bo"},"note":"d"}"#, #"{"count":[1],"guest":{"name":"Bo"},"note":"d"}"#,
            #"{"count":3,"guest":{"name":"Bo"},"note":"d"}"#, #"{"count":3,"guest":"Bo","note":"d"}"#, "",
        ] {
            try bus.publish("document.Cart", data, of: "cart/1") { $0.key = "k" }
        }
        #expect(
            bus.lines().map { $0.dropFirst(43) } == [
                #"Cart[k] 1 of 1 for "Ada L""#, "Cart[k] note=b", #"Cart[k] 2 of 2 for "Ada L""#,
                "Cart[k] 2 of 2 for Bo", "Cart[k] note=d", "Cart[k] count=[1 item]", "Cart[k] 3 of 3 for Bo",
                "Cart[k] guest=Bo", "Cart[k] withdrawn",
            ])
        #expect(bus.happenings.hiddenCount == 1, "the contract is not a happening")
    }

    @Test("The happening of a command or an event has the last line that a contract gives")
    func lineOfEvent() throws {
        var bus = Bus()
        for (line, name) in [("first", "ItemSelected"), ("${count} of ${itemID}", "ItemSelected"), ("is full", "Full")]
        {
            let type = MessageType(kind: name == "Full" ? .event : .command, name: name)
            let contract = Document.ServiceContract(
                name: "cart", version: "1", receives: [MessageContract(type: type, line: line)],
                sends: [MessageContract(type: type)])
            bus.learn(try Envelope(contract, source: "cart/1"))
        }
        let tap = try tap(&bus)
        try bus.publish("event.Full", of: "cart/1", because: tap)
        try bus.publish("event.Full", "[]", of: "cart/1", because: tap)
        #expect(bus.lines().map { $0.dropFirst(43) } == [#"ItemSelected 2 of "a b""#, "Full is full · Full"])
    }

    @Test(
        "A happening has its fields, or a former line, if the contract's line cannot be used",
        arguments: [
            (nil, "Cart 1 item"), ("", "Cart 1 item"), ("${a", "Cart 1 item"), ("${a} ${", "Cart 1 item"),
            (String(repeating: "a", count: 201), "Cart 1 item"), ("${}", "Cart a=1"), ("${a..b}", "Cart a=1"),
            ("${.}", "Cart a=1"), ("${a.b}", "Cart a=1"), ("${b}", "Cart a=1"), ("$a {a} $", "Cart $a {a} $"),
        ] as [(String?, String)])
    func unusable(line: String?, shown: String) throws {
        var bus = Bus()
        try declare("${a} item", on: &bus)
        try declare(line, on: &bus)
        try bus.publish("document.Cart", #"{"a":1}"#, of: "cart/1")
        #expect(bus.lines().map { $0.dropFirst(43) } == [shown[...]])
    }

    @Test("No control character of a contract's line or its values is drawn, and both are cut")
    func hostileLine() throws {
        var bus = Bus()
        let long = String(repeating: "x", count: 1000)
        for line in ["\u{1B}[2J\r\u{202E}${a}", String(repeating: "${a}", count: 50)] {
            try declare(line, on: &bus)
            for value in ["\u{1B}]0;T\u{7}\n\u{202E}", long] {
                try bus.publish("document.Cart", JSONValue.object(["a": .string(value)]).description, of: "cart/1")
            }
        }
        let parts = bus.parts
        #expect(parts.count == 4 && parts[1].unicodeScalars.filter { $0 == "x" }.count == 40, "\(parts)")
        #expect(parts.allSatisfy { $0.unicodeScalars.count <= 400 })
        #expect(
            !parts.joined().unicodeScalars.contains { $0.value < 0x20 || (0x202A...0x202E).contains($0.value) },
            "\(parts)")
    }

    @Test("Bookkeeping messages are counted, and are not happenings")
    func bookkeeping() throws {
        var bus = Bus()
        for type in ["document.ServiceContract", "document.Deadline", "document.ErrorQueue"] {
            try bus.publish(type, of: "x/1")
        }
        for type in ["command.ScreenDisplayed", "command.ScreenGone", "command.BackStarted", "event.ScreenDismissed"] {
            try bus.publish(type, of: "device/1")
        }
        #expect(bus.lines() == [] && bus.happenings.hiddenCount == 7)
    }

    @Test(
        "The first happening of a story names the user's action",
        arguments: [
            ("command.BackCompleted", #"{"instance":"item-2"}"#, "back"),
            ("command.AlertAnswered", #"{"instance":"item-2","button":"ok"}"#, "answer"),
            ("command.TabSelected", #"{"instance":"item-2","tab":"b"}"#, "tab"),
            ("event.LaunchFinished", "{}", "launch"), ("event.DeepLinkReceived", #"{"url":"shop://a"}"#, "link"),
            ("command.Other", "{}", "tap"),
        ])
    func origins(type: String, data: String, manner: String) throws {
        var bus = Bus()
        try bus.publish(type, data, of: "device/1") { ($0.platform, $0.device) = ("ios", "phone") }
        let line = try #require(bus.lines().first)
        #expect(line.dropFirst(14).hasPrefix(manner + " "), "\(line)")
    }

    @Test("The end of a time names the rule that has waited, or the message whose guard got no answer")
    func deadlines() throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list", sends: ["command.Save"])
            Flow.Screen("item")
            Flow.Transition(after: .seconds(3), when: [.top("list")], do: [.push("item")])
            Flow.Transition(
                on: "command.Save", guard: Flow.Guard(accept: "event.Saved", deadline: .seconds(20)),
                do: [.push("item")])
        }
        let waiting = try state(flow, [Machine.Input(id: "m9", type: "command.Save", data: [:])])
        for isLearnt in [false, true] {
            var bus = Bus()
            let tap = try tap(&bus)
            let document = try bus.publish("document.NavigationState", waiting, of: "coordinator/1", because: tap) {
                $0.key = "ios"
            }
            if isLearnt {
                bus = Bus()
                bus.learn(document)
            }
            for attempt in ["m9.ios.wait-2", "m9", "m1"] {
                try bus.publish(
                    "event.GuardDeadlinePassed", #"{"attempt":"\#(attempt)"}"#, of: "coordinator/1", because: tap
                ) { $0.platform = "ios" }
            }
            #expect(bus.parts.suffix(3) == ["after 3s", "no answer to Save for 20s", "the time is over"])
        }
    }

    @Test(
        "A request of a view names the action",
        arguments: [
            (#""back""#, "back"), (#"{"pop":2}"#, "pop 2"), (#"{"goTo":{"screen":"item"}}"#, "goTo item"),
            (#"{"push":{"screen":"item","arguments":{"id":5}}}"#, "push item {id: 5}"), (#"[1]"#, "[1]"),
        ])
    func requests(action: String, words: String) throws {
        var bus = Bus()
        try bus.publish("command.NavigationRequested", #"{"action":\#(action)}"#, of: "device/1")
        #expect(bus.parts == ["NavigationRequested \(words)"])
    }

    @Test("Errors, the banner, and the start and end of processes are happenings")
    func others() throws {
        var bus = Bus()
        let presence = #"{"name":"cart","version":"1","instance":"7","pid":3,"receives":[],"sends":[]}"#
        for data in [presence, presence, ""] {
            try bus.publish("document.Presence", data, of: "cart/7") { $0.key = "7" }
        }
        let error = #"{"code":"cart.full","message":"The cart is full","severity":"error"}"#
        try bus.publish("error.ApplicationError", error, of: "cart/7")
        for data in [#"{"waiting":0}"#, #"{"error":\#(error),"errorID":"e","waiting":0}"#, #"{"waiting":0}"#] {
            try bus.publish("document.ErrorBanner", data, of: "error-notifier/1")
        }
        #expect(
            bus.lines().map { $0.dropFirst(14) } == [
                "process cart                 started", "process cart                 ended",
                "error   cart                 cart.full: The cart is full",
                "banner  error-notifier       shows The cart is full", "banner  error-notifier       hidden",
            ])
    }

    @Test("The late end of a killed process mentions that another one with the name runs")
    func replacement() throws {
        var bus = Bus()
        for (instance, isThere) in [("7", true), ("8", true), ("7", false), ("8", false)] {
            let data = #"{"name":"cart","version":"1","instance":"\#(instance)","pid":3,"receives":[],"sends":[]}"#
            try bus.publish("document.Presence", isThere ? data : "", of: "cart/\(instance)") { $0.key = instance }
        }
        #expect(
            bus.lines().map { $0.dropFirst(43) } == ["started", "started", "ended; another one runs", "ended"])
    }

    @Test("A story that another has interrupted repeats its id, and a negative time is marked as a clock difference")
    func interleaved() throws {
        var bus = Bus()
        let (first, second) = (try tap(&bus), try tap(&bus, at: 5))
        try bus.publish("event.A", of: "a/1", at: 20, because: first)
        try bus.publish("event.B", of: "b/1", at: -1, because: second)
        try bus.publish("event.C", of: "c/1", at: 30, because: second)
        #expect(
            bus.lines().suffix(3) == [
                "      +20 ms          a                    #m1 A", "       clock          b                    #m2 B",
                "      +25 ms          c                    C",
            ])
    }

    @Test(
        "A happening has the end of its story's id, which differs for each message of a process",
        arguments: [
            ("9463ee30dc7420-1", "dc7420-1"), ("9463ee30dc7420-1a2", "dc7420-1a2"), ("m3", "m3"),
            ("3f2504e0-4f89-41d3-9a0c-0305e82c3301", "e82c3301"), ("-", "-"), ("", ""),
        ])
    func shortStory(id: String, end: String) {
        let happening = Happening(
            kind: .service, story: id, beginsStory: false, session: "default", time: .now, sinceStart: nil, actor: "a",
            parts: [], rule: nil, messages: [])
        #expect(happening.shortStory == end)
    }

    @Test("A happening that is too wide continues on the next line, with its rule visible")
    func folded() throws {
        let happening = Happening(
            kind: .navigation, story: "s", beginsStory: false, session: "default", time: .now, sinceStart: .zero,
            actor: "ios",
            parts: ["list → push item-2", "link shop://item/2 followed"], rule: "shop.yaml:3", messages: [])
        var format = HappeningFormat(zone: .utc)
        let lines = format.lines(happening, columns: 80).map { $0.rendered(isColored: false, columns: 80).description }
        #expect(
            lines == [
                "       +0 ms          ios                  #s list → push item-2     shop.yaml:3",
                "                                           link shop://item/2 followed",
            ])
    }

    @Test("No control character from outside is drawn, and unreadable data are accepted")
    func hostile() throws {
        var bus = Bus()
        let evil = "\u{1B}]0;T\u{7}\r\u{202E}"
        for type in [
            "document.NavigationState", "document.Presence", "document.ErrorBanner", "error.ApplicationError",
            "event.MessageDiscarded", "event.Other", "document.Flow", "document.Cart",
        ] {
            for data in [evil, "[]", #"{"a":"\u001b[2J"}"#] {
                try bus.publish(type, data, of: "\(evil)/1") { ($0.key, $0.platform) = (evil, evil) }
            }
        }
        let text = bus.lines(columns: 80).joined()
        #expect(!text.isEmpty)
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x202A...0x202E).contains($0.value) })
    }
}
