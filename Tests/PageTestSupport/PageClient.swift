package import Foundation
package import HTTPClient
package import HTTPTypes
package import SignIn
package import Support
internal import Testing

/// A browser with the page: it has a cookie, and sends what the page sends.
package struct PageClient: Sendable {
    package let http: HTTPClient
    package let folder: PageFolder
    package let cookie: String

    package struct NotSignedIn: Error {
        package let status: Int
    }

    /// Signs in at the gateway whose state is in a folder.
    package static func signIn(
        _ http: HTTPClient, _ folder: PageFolder, for access: PageAccess = .operator
    ) async throws -> PageClient {
        let answer = try await http.send(
            .init(.get, try link(folder, for: access)), deadline: .seconds(30), maximumBody: 1 << 20)
        guard let cookie = answer.headers[.setCookie]?.split(separator: ";").first else {
            throw NotSignedIn(status: answer.status.code)
        }
        return PageClient(http: http, folder: folder, cookie: String(cookie))
    }

    /// A new link, from the file that `segue open` writes.
    package static func link(
        _ folder: PageFolder, for access: PageAccess = .operator, now: Date = Date()
    ) throws -> String {
        let address = try #require(folder.address())
        let page = try String(contentsOfFile: try folder.writeLink(to: address, for: access, now: now), encoding: .utf8)
        return String(try #require(page.firstMatch(of: #/href="([^"]+)"/#)).1)
    }

    /// The browser of a person who has signed in to a session of the same gateway.
    package func signIn(to session: String) async throws -> PageClient {
        try await Self.signIn(http, folder, for: .session(session))
    }

    package var base: String { get throws { try #require(folder.address()).url } }

    package var port: Int { get throws { try #require(Int(base.split(separator: ":").last ?? "")) } }

    package func get(_ path: String, _ headers: HTTPFields = [:]) async throws -> HTTPClient.Response {
        try await send(.get, path, headers, nil)
    }

    package func post(_ path: String, _ body: JSONValue, _ headers: HTTPFields = [:]) async throws
        -> HTTPClient.Response
    {
        var all: HTTPFields = [.contentType: "application/json"]
        all[.segue] = "1"
        for field in headers { all[field.name] = field.value.isEmpty ? nil : field.value }
        return try await send(.post, path, all, Data(body.description.utf8))
    }

    package func send(
        _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields, _ body: Data?
    ) async throws -> HTTPClient.Response {
        var all = headers
        if all[.cookie] == nil { all[.cookie] = cookie }
        return try await http.send(
            .init(method, try base + path, headers: all, body: body), deadline: .seconds(30), maximumBody: 16 << 20)
    }

    /// Connects to a stream.
    package func stream(
        _ id: String, after lastEventID: String? = nil, readingAfter gate: DispatchSemaphore? = nil
    ) throws -> EventStream {
        var headers = ["Cookie": cookie]
        headers["Last-Event-ID"] = lastEventID
        return try EventStream(port: try port, path: "/api/stream/\(id)", headers: headers, readingAfter: gate)
    }
}

extension HTTPClient.Response {
    package var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
}

extension HTTPField.Name {
    package static let host = HTTPField.Name("Host") ?? .from
    package static let segue = HTTPField.Name("X-Segue") ?? .from
}
