import Contracts
import Device
import EventBus
import Foundation
import HTTPClient
import HTTPTypes
import Navigation
import PageTestSupport
import SegueTestSupport
import SignIn
import Subprocess
import Support
import TestSupport
import Testing

@Suite("Gateway as a process", .timeLimit(.minutes(3)))
struct GatewayProcessTests {
    private static let selection: JSONValue = ["types": ["event.Tick", "document.Clock"]]

    private static func repository(_ path: String) -> String {
        URL(fileURLWithPath: #filePath).appendingPathComponent("../../../\(path)").standardizedFileURL.path
    }

    /// Runs `body` with a broker, a gateway, and a browser that has signed in.
    private func withPage(
        _ services: [TestService] = [], _ body: @escaping @Sendable (TestStack, PageClient) async throws -> Void
    ) async throws {
        let gateway = TestService("web-gateway", after: ["broker"])
        try await TestStack.with([.broker, gateway] + services) { stack in
            try await HTTPClient.with { http in
                try await body(
                    stack, try await PageClient.signIn(http, PageFolder(state: stack.dataDirectory)))
            }
        }
    }

    private static func tick(_ numbers: some Sequence<Int>, on bus: EventBus) async throws {
        let type = try #require(MessageType("event.Tick"))
        let messages = numbers.map { number in
            Envelope(
                attributes: Attributes(type: type, source: "clock/1"), data: Data(#"{"n":\#(number)}"#.utf8))
        }
        for start in stride(from: 0, to: messages.count, by: 500) {
            try await bus.publish(Batch(Array(messages[start..<min(start + 500, messages.count)])))
        }
    }

    private static func open(_ page: PageClient, _ stream: String, from: String = "now") async throws {
        let view: JSONValue = ["id": "m", "kind": "messages", "selection": selection, "from": .string(from)]
        let answer = try await page.post("/api/stream/\(stream)/views", ["open": [view]])
        try #require(answer.status == .noContent, "\(answer.text)")
    }

    /// The rows of an update.
    private static func rows(_ event: ServerEvent) -> [JSONValue] {
        event.data.value(at: "views.m.rows")?.arrayValue ?? []
    }

    /// The number of ticks that the view has counted. Nil if it has not changed.
    private static func ticks(_ event: ServerEvent) -> Int? {
        event.data.value(at: "views.m.counts")?.objectValue?["event.Tick"]?.integerValue
    }

    private static func numbers(_ rows: [JSONValue]) -> [Int] {
        rows.compactMap { $0["summary"]?.stringValue?.firstMatch(of: #/"n":(\d+)/#).flatMap { Int($0.1) } }
    }

    @Test("A browser is still signed in after kill -9, and a used link cannot be used again")
    func restart() async throws {
        try await withPage { stack, page in
            let link = try PageClient.link(page.folder)
            let query = try #require(link.firstRange(of: "/sign-in"))
            let path = String(link[query.lowerBound...])
            #expect(try await page.get(path).status == .ok)
            try await stack.killAndRestart("web-gateway")
            #expect(try await page.get("/").status == .ok)
            #expect(try await page.get(path).status == .unauthorized)
            let secret = path.dropFirst("/sign-in?link=".count)
            #expect(!stack.log(of: "web-gateway").contains(secret.prefix(20)))
            #expect(stack.log(of: "web-gateway").contains(try page.base))
        }
    }

    @Test("No message is lost or delivered twice after a broken connection")
    func brokenConnection() async throws {
        try await withPage { stack, page in
            let first = try page.stream("abcdefgh")
            #expect(try await first.next()?.data["resumed"] == false)
            try await Self.open(page, "abcdefgh")
            try await Self.tick(0..<300, on: stack.bus)
            var received: [Int] = []
            var lastID: String?
            while received.count < 100, let event = try await first.next() {
                received += Self.numbers(Self.rows(event))
                lastID = event.id
            }
            first.close()
            try await Self.tick(300..<600, on: stack.bus)
            let second = try page.stream("abcdefgh", after: lastID)
            defer { second.close() }
            let hello = try await second.next()
            #expect(hello?.name == "hello" && hello?.data["resumed"] == true)
            while received.count < 600, let event = try await second.next() {
                received += Self.numbers(Self.rows(event))
            }
            #expect(received == Array(0..<600))
        }
    }

    @Test("A page continues after its last row after kill -9 of the gateway")
    func killedGateway() async throws {
        try await withPage { stack, page in
            let first = try page.stream("abcdefgh")
            let run = try await first.next()?.data["gateway"]
            try await Self.open(page, "abcdefgh")
            try await Self.tick(0..<10, on: stack.bus)
            var rows: [JSONValue] = []
            var lastID: String?
            while rows.count < 10, let event = try await first.next() {
                rows += Self.rows(event)
                lastID = event.id
            }
            try await stack.killAndRestart("web-gateway")
            #expect(try await first.next() == nil)
            try await Self.tick(10..<20, on: stack.bus)
            let second = try page.stream("abcdefgh", after: lastID)
            defer { second.close() }
            let hello = try #require(try await second.next())
            #expect(hello.data["resumed"] == false && hello.data["gateway"] != run)
            // The page has some of the newest rows already, and leaves them out.
            let known = Set(rows.map { $0["position"] })
            try await Self.open(page, "abcdefgh", from: "last")
            try await Self.tick(20..<30, on: stack.bus)
            while rows.count < 30, let event = try await second.next() {
                rows += Self.rows(event).filter { !known.contains($0["position"]) }
            }
            #expect(Self.numbers(rows) == Array(0..<30))
        }
    }

    @Test("The page is informed while the broker is down, and continues afterwards")
    func brokerAway() async throws {
        try await withPage { stack, page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            try await Self.open(page, "abcdefgh")
            try await stack.freeze("broker")
            var event = try await stream.next()
            while event?.name == "update" { event = try await stream.next() }
            #expect(event?.name == "bus" && event?.data == ["bus": "away"])
            #expect(try await page.get("/api/types").status == .badGateway)
            #expect(try await page.get("/metrics").text.contains("segue_bus_connected 0"))
            try stack.thaw("broker")
            event = try await stream.next()
            while event?.name == "update" { event = try await stream.next() }
            #expect(event?.data == ["bus": "connected"])
            try await stack.killAndRestart("broker")
            try await Self.tick(0..<5, on: stack.bus)
            var received: [Int] = []
            while received.count < 5, let event = try await stream.next() { received += Self.numbers(Self.rows(event)) }
            #expect(received == Array(0..<5))
        }
    }

    @Test("A page that reads slowly gets merged updates, and the last version of each document")
    func slowReader() async throws {
        try await withPage { stack, page in
            let gate = DispatchSemaphore(value: 0)
            let stream = try page.stream("abcdefgh", readingAfter: gate)
            defer { stream.close() }
            // The stream exists when its request has arrived; until then the view is refused.
            while true {
                let view: JSONValue = ["id": "m", "kind": "messages", "selection": Self.selection]
                let answer = try await page.post("/api/stream/abcdefgh/views", ["open": [view]])
                if answer.status == .noContent { break }
            }
            let clock = try #require(MessageType("document.Clock"))
            var attributes = Attributes(type: clock, source: "clock/1")
            for hour in 0..<3 {
                attributes.id = MessageID.make()
                attributes.key = "wall"
                let document = Envelope(attributes: attributes, data: Data(#"{"hour":\#(hour)}"#.utf8))
                try await stack.bus.publish(Batch([document]))
            }
            // The slow page reads when the gateway has received everything, or it could keep up with a slow gateway.
            let other = try page.stream("ijklmnop")
            defer { other.close() }
            _ = try await other.next()
            try await Self.open(page, "ijklmnop")
            try await Self.tick(0..<20_000, on: stack.bus)
            var seen = 0
            while seen < 20_000, let event = try await other.next() { seen = Self.ticks(event) ?? seen }
            gate.signal()
            var (skipped, rows, total) = (0, [JSONValue](), 0)
            for try await event in stream.events {
                let update = event.data.value(at: "views.m")
                rows += Self.rows(event)
                skipped += update?.value(at: "skipped.count")?.integerValue ?? 0
                total = Self.ticks(event) ?? total
                if rows.count + skipped == 20_003 { break }
            }
            #expect(total == 20_000)
            #expect(skipped > 0)
            #expect(Self.numbers(rows).last == 19_999)
            #expect(rows.contains { $0["summary"] == #"{"hour":2}"# })
            let positions = rows.compactMap { $0["position"]?.stringValue }
            #expect(Set(positions).count == positions.count)
        }
    }

    @Test("A device on the page shows the scene, and reports what the page reports")
    func device() async throws {
        let flow = Self.repository("config/flows/ios.yaml")
        let coordinator = TestService(
            "navigation-coordinator", command: ["navigation-coordinator", "--flow", flow], after: ["broker"])
        try await withPage([coordinator]) { stack, page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let view: JSONValue = ["id": "d1", "kind": "device", "platform": "ios", "device": "web-1"]
            let opened = try await page.post("/api/stream/abcdefgh/views", ["open": [view]])
            #expect(opened.status == .noContent, "\(opened.text)")
            try await stack.message(DomainEvent.LaunchFinished.self)
            var scene: JSONValue = .null
            var screens: [String: JSONValue] = [:]
            func isShown(_ screen: String) -> Bool {
                scene.value(at: "state.root.screen")?.stringValue == screen
            }
            while !isShown("serviceSelection") || screens[scene.value(at: "front.0")?.stringValue ?? ""] == nil {
                let update = try #require(try await stream.next()).data.value(at: "views.d1") ?? [:]
                scene = update["scene"] ?? scene
                screens.merge(update["screens"]?.objectValue ?? [:]) { $1 }
            }
            #expect(scene["platform"] == "ios" && scene["session"] == "default")
            #expect(scene["rule"]?.stringValue?.hasPrefix("transitions[") == true)
            let front = try #require(scene.value(at: "front.0")?.stringValue)
            let revision = try #require(scene["revision"]?.integerValue)
            let report: JSONValue = ["displayed": .integer(revision)]
            for _ in 0..<2 {
                let answer = try await page.post("/api/stream/abcdefgh/device/d1", report)
                #expect(answer.status == .noContent)
            }
            let displayed = try await stack.message(Command.ScreenDisplayed.self) { $0.revision == revision }
            #expect(displayed.envelope.attributes.device == "web-1")
            let action = try #require(screens[front]?["actions"]?.arrayValue?.first)
            let choice = try #require(action["choice"])
            #expect(
                try await page.post("/api/stream/abcdefgh/device/d1", ["choose": "nothing"]).status == .conflict)
            // No coordinator has published a state for this device. The page tries again then, as after a restart.
            let early: JSONValue = [
                "id": "d2", "kind": "device", "platform": "watch", "device": "web-2", "resumed": true,
            ]
            _ = try await page.post("/api/stream/abcdefgh/views", ["open": [early]])
            #expect(try await page.post("/api/stream/abcdefgh/device/d2", ["choose": choice]).status == .notFound)
            #expect(try await page.post("/api/stream/abcdefgh/device/d1", ["choose": choice]).status == .noContent)
            let type = try #require(action["type"]?.stringValue.flatMap { MessageType($0) })
            try await stack.until("the choice arrives") {
                $0.contains { $0.type == type && $0.attributes.instance == front }
            }
            let reported = stack.messages.filter { $0.type == Command.ScreenDisplayed.type }
            #expect(reported.filter { (try? $0.decode(Command.ScreenDisplayed.self))?.revision == revision }.count == 1)
        }
    }

    @Test("Metrics have the text format of Prometheus, and no contents")
    func metrics() async throws {
        try await withPage { stack, page in
            try await stack.bus.publish(ApplicationError(code: "broker.journal.damaged", message: "It failed."))
            let silent = Document.Presence(
                name: "silent", version: "1", instance: "s1", pid: 1, receives: [], sends: [])
            try await stack.bus.publish(silent)
            try await Self.tick(0..<3, on: stack.bus)
            var text = ""
            repeat {
                text = try await page.get("/metrics").text
            } while !text.contains(#"segue_messages_by_type_total{type="event.Tick"} 3"#)
                || !text.contains(#"segue_process_lag{process="web-gateway""#)
            #expect(text.contains(#"segue_process_up{process="web-gateway""#))
            #expect(text.contains(#"segue_process_up{process="silent",instance="s1"} 1"#))
            #expect(!text.contains(#"segue_process_lag{process="silent""#))
            #expect(!text.contains("event.Metrics"), "its own requests are not counted")
            #expect(text.contains("segue_errors_total{code=\"broker.journal.damaged\"} 1\n"))
            #expect(!text.contains(#""n":"#))
            // scripts/test-setup installs promtool.
            try await TestProgram(Repository.path(".build/promtool"), ["check", "metrics"]).output(input: text)
        }
    }

    @Test("'segue open' opens a file with the link, and the secret is in no argument and no output")
    func openVerb() async throws {
        try await withPage { stack, page in
            let scratch = try ScratchFolder()
            defer { scratch.remove() }
            // The browser: it writes down the arguments of all processes that it can see, and copies the file.
            let browser = scratch.path("browser")
            try """
            #!/bin/sh
            cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' >"\(scratch.path("arguments"))"
            stat -c %a "$1" >"\(scratch.path("mode"))"
            cp "$1" "\(scratch.path("page.html"))"
            """.write(toFile: browser, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: browser)
            let result = try await TestProgram(
                TestProgram.built("segue"), ["open", "--state", "\(stack.dataDirectory)/web", "--open", browser]
            ).run()
            #expect(result.status.isSuccess, "\(result.error)")
            #expect(result.output == "\(try page.base)\n")
            #expect(try String(contentsOfFile: scratch.path("mode"), encoding: .utf8) == "600\n")
            let html = try String(contentsOfFile: scratch.path("page.html"), encoding: .utf8)
            let link = String(try #require(html.firstMatch(of: #/href="([^"]+)"/#)).1)
            let secret = String(try #require(link.split(separator: "=").last))
            let answer = try await page.http.send(.init(.get, link), deadline: .seconds(30), maximumBody: 1 << 20)
            #expect(answer.status == .ok && answer.headers[.setCookie] != nil)
            let arguments = try String(contentsOfFile: scratch.path("arguments"), encoding: .utf8)
            #expect(arguments.contains("segue open"))
            for text in [arguments, result.output, result.error, stack.log(of: "web-gateway")] {
                #expect(!text.contains(secret.prefix(20)))
            }
        }
    }
}
