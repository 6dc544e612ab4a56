import EventBus
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPOperations
import HTTPTypes
import PageTestSupport
import SignIn
import Support
import TestSupport
import Testing

@testable import WebPage

@Suite("Browser of one session", .timeLimit(.minutes(2)))
struct SessionAccessTests {
    /// The browsers that a route answers.
    private enum Decision {
        case operators, everybody
        /// A sign-in link.
        case withoutCookie
    }

    /// The decision about each route. A new route needs one here.
    private static let decisions: [HTTPOperation: Decision] = [
        HTTPOperation(.get, "/sign-in"): .withoutCookie,
        HTTPOperation(.get, "/metrics"): .operators, HTTPOperation(.head, "/metrics"): .operators,
        HTTPOperation(.get, "/"): .everybody, HTTPOperation(.head, "/"): .everybody,
        HTTPOperation(.get, "/**"): .everybody, HTTPOperation(.head, "/**"): .everybody,
        HTTPOperation(.get, "/api/stream/{stream}"): .everybody,
        HTTPOperation(.post, "/api/stream/{stream}/views"): .everybody,
        HTTPOperation(.post, "/api/stream/{stream}/device/{view}"): .everybody,
        HTTPOperation(.get, "/api/flows"): .everybody, HTTPOperation(.head, "/api/flows"): .everybody,
        HTTPOperation(.get, "/api/flows/{platform}"): .operators,
        HTTPOperation(.head, "/api/flows/{platform}"): .operators,
        HTTPOperation(.get, "/api/flows/{platform}/rule"): .operators,
        HTTPOperation(.head, "/api/flows/{platform}/rule"): .operators,
        HTTPOperation(.get, "/api/messages"): .operators, HTTPOperation(.head, "/api/messages"): .operators,
        HTTPOperation(.post, "/api/messages"): .operators,
        HTTPOperation(.get, "/api/messages/{position}"): .operators,
        HTTPOperation(.head, "/api/messages/{position}"): .operators,
        HTTPOperation(.get, "/api/transient/{id}"): .operators, HTTPOperation(.head, "/api/transient/{id}"): .operators,
        HTTPOperation(.get, "/api/story/{id}"): .operators, HTTPOperation(.head, "/api/story/{id}"): .operators,
        HTTPOperation(.get, "/api/types"): .operators, HTTPOperation(.head, "/api/types"): .operators,
        HTTPOperation(.get, "/api/dead"): .operators, HTTPOperation(.head, "/api/dead"): .operators,
        HTTPOperation(.post, "/api/dead"): .operators,
    ]

    /// The kinds of views that a browser of a session may open.
    private static let views: [String: Decision] = [
        "device": .everybody, "happenings": .operators, "map": .operators, "messages": .operators,
        "processes": .operators,
    ]

    private static let stream = "/api/stream/abcdefgh"
    private static let advice =
        "this browser is signed in to the session 'anna'; sign in as an operator with 'segue open'"

    /// A request to open a view in each session that is named.
    private static func device(_ id: String, in session: String? = nil) -> JSONValue {
        [
            "id": .string(id), "kind": "device", "platform": "ios", "device": "web-1",
            "session": session.map(JSONValue.string) ?? .null,
        ]
    }

    private static func isRefused(_ answer: HTTPClient.Response) -> Bool {
        answer.status == .forbidden && answer.json.value(at: "error.code") == "not-operator"
            && answer.json.value(at: "error.message")?.stringValue == advice
    }

    @Test("Each route is for operators, except those that are known to be for a browser of a session, too")
    func routes() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let operations = try gateway(in: scratch).operations
        #expect(Set(operations) == Set(Self.decisions.keys))
        try await withGateway { page in
            let anna = try await page.signIn(to: "anna")
            let stream = try anna.stream("abcdefgh")
            defer { stream.close() }
            // The route of a stream answers; its answer does not end.
            #expect(try await stream.next()?.data["session"] == "anna")
            for operation in operations where operation != HTTPOperation(.get, "/api/stream/{stream}") {
                let path = operation.path.replacing("{stream}", with: "abcdefgh").replacing(
                    #/\{\w+\}|\*\*/#, with: "a.js")
                let body = operation.method == .post ? Data("{}".utf8) : nil
                let answer = try await anna.send(operation.method, path, [.segue: "1"], body)
                switch Self.decisions[operation] {
                case .operators:
                    #expect(answer.status == .forbidden, "\(operation)")
                    #expect(operation.method == .head || Self.isRefused(answer), "\(operation) \(answer.text)")
                case .everybody: #expect(![.forbidden, .unauthorized].contains(answer.status), "\(operation)")
                case .withoutCookie: #expect(answer.status == .unauthorized, "\(operation)")
                case nil: Issue.record("there is no decision about \(operation)")
                }
            }
        }
    }

    @Test("Each kind of view is for operators, except devices")
    func viewKinds() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let kinds = try gateway(in: scratch).viewKinds.keys
        #expect(Set(kinds) == Set(Self.views.keys))
        try await withGateway { page in
            let anna = try await page.signIn(to: "anna")
            let stream = try anna.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            for kind in kinds {
                let view: JSONValue = [
                    "id": "v", "kind": .string(kind), "platform": "ios", "device": "web-1", "session": "anna",
                ]
                let answer = try await anna.post("\(Self.stream)/views", ["open": [view]])
                if Self.views[kind] == .everybody {
                    #expect(answer.status == .noContent, "\(kind)")
                } else {
                    #expect(Self.isRefused(answer), "\(kind)")
                }
            }
        }
    }

    @Test("A browser of a session opens devices of this session only, and its messages have this session")
    func ownDevices() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await withGateway(bus) { page in
            let anna = try await page.signIn(to: "anna")
            let stream = try anna.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            for other in ["bert", "default", "Anna", "anna ", "", "*"] {
                let answer = try await anna.post("\(Self.stream)/views", ["open": [Self.device("d", in: other)]])
                #expect(other.isEmpty ? answer.status == .badRequest : Self.isRefused(answer), "\(other)")
            }
            #expect(try await bus.inspect.end().offset == 0)
            let opened: JSONValue = ["open": [Self.device("d"), Self.device("e", in: "anna")]]
            #expect(try await anna.post("\(Self.stream)/views", opened).status == .noContent)
            let launches = try await bus.withSubscription(to: [.all], from: .beginning) { messages in
                var launches: [Envelope] = []
                for try await message in messages where message.type.description == "event.LaunchFinished" {
                    launches.append(message)
                    if launches.count == 2 { break }
                }
                return launches
            }
            #expect(launches.map(\.attributes.subject) == ["anna", "anna"])
            let flows = try await anna.get("/api/flows").json
            #expect(flows["sessions"] == ["anna"] && flows["flows"] == [])
        }
    }

    @Test("A browser cannot use the stream of one with another sign-in, even if it knows the ids")
    func otherStreams() async throws {
        try await withGateway { page in
            let (anna, bert) = (try await page.signIn(to: "anna"), try await page.signIn(to: "bert"))
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            #expect(try await page.post("\(Self.stream)/views", ["open": [Self.device("d")]]).status == .noContent)
            let event = try await stream.next()
            #expect(event?.data.value(at: "views.d") != nil)
            for other in [anna, bert] {
                for (path, body) in [
                    ("device/d", ["displayed": 1]), ("device/d", ["choose": "x"]), ("views", ["close": ["d"]]),
                    ("views", ["open": [Self.device("d")]]),
                ] as [(String, JSONValue)] {
                    #expect(try await other.post("\(Self.stream)/\(path)", body).status == .notFound, "\(path)")
                }
                // A stream with the same id is another one.
                let own = try other.stream("abcdefgh", after: event?.id)
                defer { own.close() }
                #expect(try await own.next()?.data["resumed"] == false)
                #expect(try await other.post("\(Self.stream)/device/d", ["displayed": 1]).status == .notFound)
            }
            #expect(try await page.post("\(Self.stream)/device/d", ["displayed": 1]).status == .noContent)
        }
    }

    @Test("A changed cookie is not valid")
    func forgedCookie() async throws {
        try await withGateway { page in
            let anna = try await page.signIn(to: "anna")
            #expect(try await anna.get("/api/flows").status == .ok)
            let parts = anna.cookie.split(separator: ".").map(String.init)
            for forged in [
                [parts[0], parts[1], parts[3]], [parts[0], parts[1], "YmVydA", parts[3]], [page.cookie, parts[2]],
            ] {
                let answer = try await anna.get("/api/flows", [.cookie: forged.joined(separator: ".")])
                #expect(answer.status == .unauthorized)
            }
            // A link is not a cookie, and signs in to its session only.
            let link = try PageClient.link(page.folder, for: .session("anna"))
            let name = try #require(page.cookie.split(separator: "=").first)
            let value = try #require(link.split(separator: "link=").last)
            #expect(try await page.get("/api/flows", [.cookie: "\(name)=\(value)"]).status == .unauthorized)
        }
    }

    @Test("The page and the answer to the link name the session")
    func page() async throws {
        try await withGateway { page in
            let name = "<b>\"ü"
            let link = try PageClient.link(page.folder, for: .session(name))
            let answer = try await page.http.send(.init(.get, link), deadline: .seconds(30), maximumBody: 1 << 20)
            #expect(answer.text.contains("<h1>You are signed in to the session '&lt;b&gt;&quot;ü'</h1>"))
            let anna = try await page.signIn(to: name)
            let (own, all) = (try await anna.get("/"), try await page.get("/"))
            #expect(own.text.contains("<html data-session=\"&lt;b&gt;&quot;ü\" lang=\"en\">"))
            #expect(!all.text.contains("data-session") && own.headers[.eTag] != all.headers[.eTag])
            let tag = try #require(all.headers[.eTag])
            #expect(try await anna.get("/index.html", [.ifNoneMatch: tag]).status == .ok)
            #expect(try await anna.get("/a.js").text == (try await page.get("/a.js").text))
        }
    }

    @Test("Browsers of a session have few streams and devices and small requests, and leave room for others")
    func limits() async throws {
        try await withGateway { page in
            let anna = try await page.signIn(to: "anna")
            let streams = try (0..<Hub.capacity.session).map { try anna.stream("abcdefg\($0)") }
            defer { for stream in streams { stream.close() } }
            for stream in streams { _ = try await stream.next() }
            #expect(try await anna.get(Self.stream).status == .tooManyRequests)
            let views = (0...16).map { Self.device("d\($0)") }
            #expect(
                try await anna.post("/api/stream/abcdefg0/views", ["open": .array(views)]).status == .tooManyRequests)
            let large: JSONValue = ["choose": .string(String(repeating: "a", count: 64 << 10))]
            #expect(try await anna.post("/api/stream/abcdefg0/device/d0", large).status == .contentTooLarge)
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            #expect(try await page.post("\(Self.stream)/views", ["open": [Self.device("d")]]).status == .noContent)
        }
    }
}
