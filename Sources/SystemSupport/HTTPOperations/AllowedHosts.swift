internal import HTTPTypes
package import Hummingbird
internal import Support

/// The hosts and origins of the requests that a server answers.
///
/// A page of another site can make a browser send requests to this server. Such a request has the origin of that site.
/// If the site's name was made to resolve to this machine (DNS rebinding), the request has the site's name as its host.
package struct AllowedHosts: Sendable {
    /// The names and addresses of the server itself, which are allowed with its own port.
    private let own: Set<String>
    /// Further hosts in lower case: names, which are allowed with any port, and names with a port.
    private let allowed: Set<String>

    /// - Parameters:
    ///   - listening: The address that the server listens on.
    ///   - allowed: Further hosts: a name, or a name and a port.
    package init(listening: String = "127.0.0.1", allowed: [String] = []) {
        // The addresses that stand for all addresses of this machine are not the address of one of them.
        let address = Self.isWildcard(listening) ? [] : [Self.host(listening).lowercased()]
        own = Set(["127.0.0.1", "localhost", "[::1]"] + address)
        self.allowed = Set(allowed.map { $0.lowercased() })
    }

    /// True if a request with this `Host` is meant for the server.
    /// - Parameter port: The port that the server listens on.
    package func allows(host: String?, port: Int) -> Bool {
        guard let host = host?.lowercased(), !host.isEmpty else { return false }
        if allowed.contains(host) { return true }
        // A browser leaves out the port 80.
        guard let given = Self.port(of: host) else { return port == 80 && own.contains(host) }
        let name = String(host.removing(suffix: ":\(given)") ?? host[...])
        return allowed.contains(name) || given == String(port) && own.contains(name)
    }

    /// True if a page of this origin may send requests. A request without an origin comes from no other page.
    package func allows(origin: String?, port: Int) -> Bool {
        guard let origin else { return true }
        let host = origin.removing(prefix: "http://") ?? origin.removing(prefix: "https://")
        return host.map { allows(host: String($0), port: port) } ?? false
    }

    /// The digits after the last colon of a host. Nil if there are none.
    private static func port(of host: String) -> String? {
        guard let (_, port) = host.cut(atLast: ":"), host.utf8.last != UInt8(ascii: "]") else { return nil }
        return !port.isEmpty && port.utf8.allSatisfy { (0x30...0x39).contains($0) } ? String(port) : nil
    }

    /// An address as a part of a URL.
    package static func host(_ address: String) -> String {
        address.unicodeScalars.contains(":") && !address.begins(with: "[") ? "[\(address)]" : address
    }

    package static func isWildcard(_ address: String) -> Bool { ["0.0.0.0", "::", "[::]"].contains(address) }

    /// True if only programs on this machine can reach the address.
    package static func isLoopback(_ address: String) -> Bool {
        address == "localhost" || address == "::1" || address == "[::1]" || address.begins(with: "127.")
    }
}

/// A request for another host, or of a page of another origin.
package struct ForeignRequest: Error, Sendable {
    /// A stable identifier for programs: `host` or `origin`.
    package let code: String
    /// One line for a person.
    package let message: String

    /// The answer in plain text.
    package var response: Response {
        Response(
            status: .forbidden, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "\(message)\n")))
    }
}

/// Answers the requests for a server's own hosts, and refuses those of other sites.
package struct OwnSiteResponder<Responder: HTTPResponder>: HTTPResponder where Responder.Context: ConnectionContext {
    let responder: Responder
    let hosts: AllowedHosts
    let refuse: @Sendable (ForeignRequest) -> Response

    package func respond(to request: Request, context: Responder.Context) async throws -> Response {
        if let foreign = check(request, port: context.connection.port) {
            let response = refuse(foreign)
            return request.method == .head ? response.createHeadResponse() : response
        }
        return try await responder.respond(to: request, context: context)
    }

    private func check(_ request: Request, port: Int) -> ForeignRequest? {
        guard hosts.allows(host: request.head.authority, port: port) else {
            return ForeignRequest(code: "host", message: "this server has no such host")
        }
        guard hosts.allows(origin: request.headers[.origin], port: port) else {
            return ForeignRequest(code: "origin", message: "a page of another origin sent this request")
        }
        return nil
    }
}
