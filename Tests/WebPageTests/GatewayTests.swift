import Contracts
import EventBus
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPTypes
import PageTestSupport
import SignIn
import Sodium
import Support
import TestSupport
import Testing

@testable import WebPage

@Suite("Gateway", .timeLimit(.minutes(2)))
struct GatewayTests {
    private static let longest = String(repeating: "%5B", count: (PageFolder.viewLimit - "map?".utf8.count) / 3)
    private static let encoded = PercentEncoding.encode(longest)

    @Test("A link signs in once, and a forged or expired one does not")
    func signIn() async throws {
        try await withGateway { page in
            func follow(_ link: String) async throws -> HTTPClient.Response {
                try await page.http.send(.init(.get, link), deadline: .seconds(30), maximumBody: 1 << 20)
            }
            let link = try PageClient.link(page.folder)
            let first = try await follow(link)
            #expect(first.status == .ok)
            #expect(first.text.contains(#"<meta http-equiv="refresh" content="0; url=/">"#))
            let cookie = try #require(first.headers[.setCookie])
            #expect(cookie.hasPrefix("segue-segue="))
            for part in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(cookie.contains("; \(part)")) }
            let second = try await follow(link)
            #expect(second.status == .unauthorized && second.headers[.setCookie] == nil)
            let expired = try await follow(try PageClient.link(page.folder, now: Date(timeIntervalSinceNow: -61)))
            #expect(expired.status == .unauthorized && expired.headers[.setCookie] == nil)
            let forged = try await follow(link.replacing("link=", with: "link=A"))
            #expect(forged.status == .unauthorized && forged.headers[.setCookie] == nil)
            // A cookie is not a link.
            let value = try #require(cookie.split(separator: ";").first).dropFirst("segue-segue=".count)
            #expect(try await follow("\(try page.base)/sign-in?link=\(value)").status == .unauthorized)
        }
    }

    @Test(
        "A link leads to the view that it names, if the name is a word, with encoded parameters",
        arguments: [
            ("map", "/#/map"), ("", "/"), ("a%22b", "/"), ("%2F%2Fexample.org", "/"), ("javascript:1", "/"),
            ("map%3Funtaken%3Da1%2Clinks%255B0%255D", "/#/map?untaken=a1,links%5B0%5D"), ("map%3Fa%3D%22%3E", "/"),
            ("map%3Fa%3Db%26c%3Dd", "/"), ("map%3F\(encoded)", "/#/map?\(longest)"), ("map%3Faaa\(encoded)", "/"),
        ])
    func view(name: String, target: String) async throws {
        try await withGateway { page in
            let link = try PageClient.link(page.folder) + "&view=\(name)"
            let answer = try await page.http.send(.init(.get, link), deadline: .seconds(30), maximumBody: 1 << 20)
            #expect(answer.status == .ok)
            #expect(answer.text.contains("content=\"0; url=\(target)\">"))
        }
    }

    @Test("Without --listen, the page's server listens only on 127.0.0.1")
    func loopback() async throws {
        try await withGateway { page in
            let port = try page.port
            _ = try RawConnection(port: port)
            #expect(throws: RawConnection.Refused.self) { try RawConnection(port: port, address: "127.0.0.2") }
        }
    }

    @Test("The cookie is sent only over https behind a proxy with https")
    func secureCookie() async throws {
        try await withGateway { settings, _ in
            settings.allowedHosts = ["page.example.org"]
        } _: { page in
            let forwarded = try #require(HTTPField.Name("X-Forwarded-Proto"))
            for (protocols, isSecure) in [
                ("https", true), ("HTTPS, http", true), ("http", false), ("http, https", false), ("", false),
            ] {
                let link = try PageClient.link(page.folder)
                let headers: HTTPFields = [.host: "page.example.org", forwarded: protocols]
                let answer = try await page.http.send(
                    .init(.get, link, headers: headers), deadline: .seconds(30), maximumBody: 1 << 20)
                let cookie = try #require(answer.headers[.setCookie], "\(protocols)")
                #expect(cookie.hasSuffix("; Secure") == isSecure, "\(protocols)")
            }
        }
    }

    @Test("A request without a cookie gets only the advice to run 'segue open'")
    func signedOut() async throws {
        try await withGateway { page in
            let none: HTTPFields = [.cookie: "segue-other=1; segue-segue=a.1.b"]
            let front = try await page.get("/", none)
            #expect(front.status == .unauthorized && front.text.contains("segue open"))
            for path in ["/a.js", "/api/types", "/api/stream/abcdefgh", "/api/messages"] {
                #expect(try await page.get(path, none).status == .unauthorized, "\(path)")
            }
            #expect(try await page.post("/api/messages", [:], none).status == .unauthorized)
            #expect(try await page.get("/").status == .ok)
        }
    }

    @Test("Requests with another host, from another origin, or without the header are refused")
    func crossSite() async throws {
        try await withGateway { page in
            let port = try page.port
            for host in ["evil.example:\(port)", "evil.example", "127.0.0.1:1", "127.0.0.1"] {
                // The header Host of libcurl is replaced.
                let answer = try await page.get("/metrics", [.host: host])
                #expect(answer.status == .forbidden && answer.json.value(at: "error.code") == "host", "\(host)")
            }
            #expect(try await page.get("/", [.host: "localhost:\(port)"]).status == .ok)
            for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
                let answer = try await page.post("/api/messages", [:], [.origin: origin])
                #expect(answer.status == .forbidden && answer.json.value(at: "error.code") == "origin")
            }
            let own = try await page.post("/api/messages", [:], [.origin: "http://127.0.0.1:\(port)"])
            #expect(own.status == .badRequest)
            let plain = try await page.post("/api/messages", [:], [.segue: ""])
            #expect(plain.status == .forbidden && plain.json.value(at: "error.code") == "header")
        }
    }

    @Test(
        "Every answer has headers that restrict the browser",
        arguments: ["/", "/a.js", "/nothing", "/api/types", "/metrics", "/sign-in"])
    func headers(path: String) async throws {
        try await withGateway { page in
            let headers = try await page.get(path).headers
            #expect(headers[.contentSecurityPolicy] == Answers.policy)
            #expect(headers[.xContentTypeOptions] == "nosniff")
            for (name, value) in [
                ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ] { #expect(HTTPField.Name(name).flatMap { headers[$0] } == value) }
            #expect(headers[.cacheControl] == (["/", "/a.js"].contains(path) ? "no-cache" : "no-store"))
        }
    }

    @Test("A file of the page has a tag, and is not sent again while it is the same")
    func assets() async throws {
        try await withGateway { page in
            let first = try await page.get("/a.js")
            #expect(first.headers[.contentType] == "text/javascript; charset=utf-8")
            let tag = try #require(first.headers[.eTag])
            let second = try await page.get("/a.js", [.ifNoneMatch: tag])
            #expect(second.status == .notModified && second.body.isEmpty)
            #expect(try await page.get("/../web/key").status == .notFound)
            #expect(try await page.get("/%2e%2e/web/key").status == .notFound)
        }
    }

    @Test(
        "HEAD is answered like GET without the body",
        arguments: ["/", "/a.js", "/metrics", "/api/types", "/api/x", "/x"])
    func head(path: String) async throws {
        try await withGateway { page in
            func exchange(_ method: String) async throws -> (head: [String], body: String) {
                let answer = try await RawExchange.answer(
                    to: """
                        \(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(page.port)\r\nCookie: \(page.cookie)\r
                        Connection: close\r\n\r\n
                        """, from: page.base)
                let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
                let lines = (parts.first ?? "").split(separator: "\r\n").map(String.init)
                // The metrics contain figures that change.
                let head = lines.filter { !$0.lowercased().contains(#/^(date|content-length):/#) }
                return (head, parts.dropFirst().first ?? "")
            }
            let (get, head) = (try await exchange("GET"), try await exchange("HEAD"))
            #expect(get.head == head.head && get.head.first?.hasPrefix("HTTP/1.1 ") == true)
            #expect(get.body != "" && head.body == "")
        }
    }

    @Test("A method that a path does not have is refused with the allowed ones")
    func methods() async throws {
        try await withGateway { page in
            for (method, path, allowed) in [
                (.post, "/", "GET, HEAD"), (.post, "/a.js", "GET, HEAD"), (.post, "/api/types", "GET, HEAD"),
                (.put, "/api/messages", "GET, HEAD, POST"), (.get, "/api/stream/abcdefgh/views", "POST"),
                (.post, "/api/story/a", "GET, HEAD"),
                // An answer without its body would use up the link, or connect a stream.
                (.head, "/sign-in", "GET"), (.head, "/api/stream/abcdefgh", "GET"),
            ] as [(HTTPRequest.Method, String, String)] {
                let answer = try await page.send(method, path, [.segue: "1"], nil)
                #expect(answer.status == .methodNotAllowed, "\(method) \(path)")
                #expect(answer.headers[.allow] == allowed, "\(method) \(path)")
            }
            #expect(try await page.post("/api/x", [:]).status == .notFound)
            #expect(try await page.post("/x", [:]).status == .notFound)
        }
    }

    @Test("A gateway whose page or key cannot be used is refused in one line with a remedy")
    func unusable() async throws {
        await #expect(throws: GatewayError.self) {
            try await withGateway { settings, scratch in
                settings.page = scratch.path("none")
            } _: { _ in
            }
        }
        await #expect(throws: GatewayError.self) {
            try await withGateway { _, scratch in
                try "<!doctype html><title>Page</title>".write(
                    toFile: scratch.path("page/index.html"), atomically: true, encoding: .utf8)
            } _: { _ in
            }
        }
        await #expect(throws: GatewayError.self) {
            try await withGateway { settings, scratch in
                _ = try settings.folder.makeKey()
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: scratch.path("web/key"))
            } _: { _ in
            }
        }
    }

    @Test("A read-only gateway publishes nothing")
    func readOnly() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await withGateway(bus) { settings, _ in
            settings.isReadOnly = true
        } _: { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            #expect(try await stream.next()?.data["readOnly"] == true)
            let end = try await bus.inspect.end()
            for (path, body) in [
                ("/api/messages", ["type": "event.LaunchFinished", "data": [:]]), ("/api/dead", [:]),
            ] as [(String, JSONValue)] {
                let answer = try await page.post(path, body)
                #expect(answer.status == .forbidden && answer.json.value(at: "error.code") == "read-only")
            }
            let device: JSONValue = ["id": "d", "kind": "device", "platform": "ios", "device": "web-1"]
            let opened = try await page.post("/api/stream/abcdefgh/views", ["open": [device]])
            #expect(opened.status == .noContent)
            #expect(try await stream.next()?.data.value(at: "views.d.scene") == .null)
            #expect(try await page.post("/api/stream/abcdefgh/device/d", ["displayed": 1]).status == .noContent)
            #expect(try await page.post("/api/stream/abcdefgh/device/d", ["dismissed": "1"]).status == .forbidden)
            #expect(try await page.post("/api/stream/abcdefgh/device/d", ["choose": "x"]).status == .forbidden)
            #expect(try await bus.inspect.end() == end)
        }
    }

    @Test("Invalid requests of the page are refused")
    func malformed() async throws {
        try await withGateway { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let views: [(JSONValue, Int)] = [
                (["open": [["id": "a b", "kind": "processes"]]], 400), (["open": [["id": "a", "kind": "x"]]], 400),
                (["open": [["id": "a", "kind": "messages", "selection": ["types": ["x y"]]]]], 400),
                (["open": [["id": "a", "kind": "messages", "selection": ["where": ["data."]]]]], 400),
                (["open": [["id": "a", "kind": "messages", "selection": ["kind": ["command"]]]]], 400),
                (["open": [["id": "a", "kind": "messages", "from": "yesterday"]]], 400),
                (["open": [["id": "a", "kind": "device", "platform": "ios"]]], 400),
                (["open": .array((0..<65).map { ["id": .string("v\($0)"), "kind": "processes"] })], 429),
                (["close": ["nothing"]], 204),
            ]
            for (body, status) in views {
                let answer = try await page.post("/api/stream/abcdefgh/views", body)
                #expect(answer.status.code == status, "\(body) \(answer.text)")
            }
            #expect(try await page.post("/api/stream/unknown-1/views", ["close": ["a"]]).status == .notFound)
            #expect(try await page.get("/api/stream/short").status == .badRequest)
            #expect(try await page.get("/api/messages/1").status == .badRequest)
            #expect(try await page.get("/api/messages/1:1").status == .notFound)
            #expect(try await page.get("/api/messages?limit=1000").status == .badRequest)
            #expect(try await page.get("/api/story/none").status == .notFound)
            let large: JSONValue = [
                "type": "event.Tick", "data": ["a": .string(String(repeating: "a", count: 1 << 20))],
            ]
            #expect(try await page.post("/api/messages", large).status == .contentTooLarge)
        }
    }

    @Test("Metrics need no token on loopback unless one is set")
    func metrics() async throws {
        let none: HTTPFields = [.cookie: "none"]
        try await withGateway { page in
            let answer = try await page.get("/metrics", none)
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        }
        try await withGateway { settings, _ in
            settings.metricsToken = "0123456789abcdef"
        } _: { page in
            let bare = try await page.get("/metrics")
            #expect(bare.status == .unauthorized)
            let wrong: HTTPFields = [.cookie: "none", .authorization: "Bearer 0123456789abcdee"]
            #expect(try await page.get("/metrics", wrong).status == .unauthorized)
            let right: HTTPFields = [.cookie: "none", .authorization: "Bearer 0123456789abcdef"]
            #expect(try await page.get("/metrics", right).status == .ok)
        }
    }
}
