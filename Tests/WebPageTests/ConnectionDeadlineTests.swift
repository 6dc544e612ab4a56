import EventBus
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPOperations
import HTTPTypes
import NIOCore
import PageTestSupport
import Support
import TestSupport
import Testing
import WebPage

@Suite("Slow and idle connections", .timeLimit(.minutes(2)))
struct ConnectionDeadlineTests {
    @Test("A connection without a whole request is closed", arguments: ["", "GET / HTTP/1.1\r\nHost: 127", "GET"])
    func headers(text: String) async throws {
        try await withGateway { settings, _ in
            settings.limits.idle = .seconds(1)
        } _: { page in
            let connection = try RawConnection(port: try page.port)
            connection.send(text)
            #expect(await connection.answer() == "")
        }
    }

    @Test("A connection whose body does not end is closed")
    func body() async throws {
        try await withGateway { settings, _ in
            (settings.limits.request, settings.limits.idle) = (.seconds(15), .hours(1))
        } _: { page in
            let connection = try RawConnection(port: try page.port)
            connection.send(
                """
                POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1:\(try page.port)\r\nCookie: \(page.cookie)\r
                X-Segue: 1\r\nContent-Length: 100\r\n\r\n{
                """)
            let answer = await connection.answer()
            #expect(!answer.contains("200 OK"), "\(answer)")
        }
    }

    @Test("A refused request whose body does not end is answered, and its connection is closed")
    func refusedBody() async throws {
        try await withGateway { settings, _ in
            (settings.limits.request, settings.limits.idle) = (.seconds(15), .seconds(15))
        } _: { page in
            let connection = try RawConnection(port: try page.port)
            connection.send(
                """
                POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1:\(try page.port)\r
                X-Segue: 1\r\nContent-Length: 100\r\n\r\n{
                """)
            #expect(await connection.answer().hasPrefix("HTTP/1.1 401"))
        }
    }

    @Test("A request of HTTP/1.0 is answered without chunks, and so is the stream of a page")
    func earlierVersion() async throws {
        try await withGateway { _, _ in
        } _: { page in
            let head = "HTTP/1.0\r\nHost: 127.0.0.1:\(try page.port)\r\nCookie: \(page.cookie)\r\n\r\n"
            let asset = try RawConnection(port: try page.port)
            asset.send("GET / \(head)")
            // The answer ends with the connection.
            let answer = await asset.answer()
            #expect(answer.hasPrefix("HTTP/1.0 200 "), "\(answer.prefix(300))")
            #expect(!answer.lowercased().contains("transfer-encoding"))
        }
    }

    @Test("Any number of connections keeps the gateway reachable, and ends no page that is in use")
    func crowd() async throws {
        try await withGateway { settings, _ in
            (settings.limits.idle, settings.limits.request) = (.hours(1), .hours(1))
        } _: { page in
            let port = try page.port
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            #expect(try await stream.next()?.name == "hello")
            let requests = [
                "", "GET / HTTP/1.1\r\nHost: 127", "POST / HTTP/1.1\r\nContent-Length: 5\r\nHost: a\r\n\r\n",
            ]
            let crowd = try (0..<600).map { number in
                let connection = try RawConnection(port: port)
                connection.send(requests[number % requests.count])
                return connection
            }
            // A new connection of a browser that has signed in is answered.
            let own = try RawConnection(port: port)
            own.send(
                "GET /a.js HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(page.cookie)\r\nConnection: close\r\n\r\n")
            #expect(await own.answer().hasPrefix("HTTP/1.1 200"))
            let view: JSONValue = ["id": "p", "kind": "processes"]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .noContent)
            #expect(try await stream.next()?.data.value(at: "views.p") != nil, "the stream goes on")
            #expect(crowd[0].isClosed && !crowd[599].isClosed)
        }
    }

    @Test("A connection beyond the streams of signed-in pages is closed, and the streams stay open")
    func streams() async throws {
        try await withGateway { settings, _ in
            settings.limits.count = 4
        } _: { page in
            var streams: [EventStream] = []
            defer { for stream in streams { stream.close() } }
            for name in ["a", "b", "c", "d"] {
                let stream = try page.stream(String(repeating: name, count: 8))
                #expect(try await stream.next()?.name == "hello")
                streams.append(stream)
            }
            let connection = try RawConnection(port: try page.port)
            #expect(await connection.answer() == "")
            streams.removeLast().close()
            let view: JSONValue = ["id": "p", "kind": "processes"]
            while (try? await page.post("/api/stream/aaaaaaaa/views", ["open": [view]]).status) != .noContent {}
            #expect(try await streams[0].next()?.data.value(at: "views.p") != nil)
        }
    }

    @Test("Sessions whose connections are all in use do not keep an operator out, or end its streams")
    func sessionStreams() async throws {
        try await withGateway { settings, _ in
            settings.limits.count = 4
        } _: { page in
            let own = try page.stream("abcdefgh")
            defer { own.close() }
            #expect(try await own.next()?.name == "hello")
            let anna = try await page.signIn(to: "anna")
            var streams: [EventStream] = []
            defer { for stream in streams { stream.close() } }
            for name in ["a", "b", "c"] {
                let stream = try anna.stream(String(repeating: name, count: 8))
                #expect(try await stream.next()?.name == "hello")
                streams.append(stream)
            }
            let connection = try RawConnection(port: try page.port)
            connection.send(
                """
                GET /a.js HTTP/1.1\r\nHost: 127.0.0.1:\(try page.port)\r\nCookie: \(page.cookie)\r
                Connection: close\r\n\r\n
                """)
            #expect(await connection.answer().hasPrefix("HTTP/1.1 200"))
            let view: JSONValue = ["id": "p", "kind": "processes"]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .noContent)
            #expect(try await own.next()?.data.value(at: "views.p") != nil)
        }
    }

    @Test("A connection is closed if its peer does not read the answer, and others continue")
    func unreadAnswer() async throws {
        let log = LogRecorder()
        try await withGateway(log: log) { settings, scratch in
            settings.limits.write = .seconds(1)
            try String(repeating: "a", count: 3 << 19).write(
                toFile: scratch.path("page/large.js"), atomically: true, encoding: .utf8)
        } _: { page in
            let port = try page.port
            let connection = try RawConnection(port: port, receiveBuffer: 4096)
            let request = "GET /large.js HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(page.cookie)\r\n\r\n"
            // More than the buffers of both sockets hold.
            connection.send(String(repeating: request, count: 16))
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            #expect(try await stream.next()?.name == "hello")
            while !log.text.contains("a peer does not read its answer") {
                #expect(try await page.get("/large.js").body.count == 3 << 19)
            }
            let answer = await connection.answer()
            #expect(answer.utf8.count < 16 * 3 << 19)
            // A stream with nothing to send is not closed.
            let view: JSONValue = ["id": "p", "kind": "processes"]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .noContent)
            #expect(try await stream.next()?.data.value(at: "views.p") != nil)
        }
    }
}
