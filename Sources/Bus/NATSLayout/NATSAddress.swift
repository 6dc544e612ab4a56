package import EventBus
internal import Support

/// The address of a bus on NATS: `nats://HOST[:PORT][,HOST…][/NAME]`, or `tls://…` for an encrypted connection.
///
/// Several hosts are the servers of one cluster. A client connects only to these, so all servers must be named. `NAME`
/// is the namespace: the first token of every subject, and the name of the journal's stream. Systems with different
/// namespaces can share the servers.
package struct NATSAddress: Hashable, Sendable, CustomStringConvertible {
    package struct Server: Hashable, Sendable {
        /// A name, an IPv4 address, or an IPv6 address without brackets.
        package let host: String
        package let port: UInt16

        fileprivate var description: String { (host.unicodeScalars.contains(":") ? "[\(host)]" : host) + ":\(port)" }
    }

    private static let schemes = ["nats://", "tls://"]
    package static let defaultPort: UInt16 = 4222
    package static let defaultNamespace = "SEGUE"
    private static let defaultHost = "localhost"
    private static let maximumServerCount = 64

    package let isEncrypted: Bool
    package let servers: [Server]
    package let namespace: String

    /// - Throws: ``BusError`` with code `address`. Its message never contains user names, passwords or tokens: an
    ///   address in which there may be any is not quoted.
    package init(_ text: String) throws(BusError) {
        guard let scheme = Self.schemes.first(where: { text.begins(with: $0) }),
            let rest = text.removing(prefix: scheme)
        else {
            throw Self.error(in: "the address of a bus on NATS", text: text, rule: "begins with nats:// or tls://")
        }
        isEncrypted = scheme == "tls://"
        guard !rest.unicodeScalars.contains("@") else {
            throw BusError(
                .address,
                "the address of a bus on NATS must not contain a user name, a password or a token; write \(scheme)HOST "
                    + "and set SEGUE_BUS_CREDS or SEGUE_BUS_NKEY to the path of a file")
        }
        let path = rest.cut(at: "/")
        let hosts = path?.before ?? rest
        var servers: [Server] = []
        if !hosts.isEmpty {
            for part in hosts.split(scalar: ",", omittingEmptySubsequences: false) {
                guard let server = Server(part) else {
                    throw Self.error(
                        in: "the host", text: String(part),
                        rule:
                            "is not HOST or HOST:PORT; a port is 1 to 65535, and an IPv6 address is in brackets: [::1]:4222"
                    )
                }
                if !servers.contains(server) { servers.append(server) }
            }
        }
        guard servers.count <= Self.maximumServerCount else {
            throw BusError(
                .address,
                "the address of a bus on NATS has \(servers.count) hosts; write at most \(Self.maximumServerCount)")
        }
        self.servers = servers.isEmpty ? [Server(host: Self.defaultHost, port: Self.defaultPort)] : servers
        namespace = path.map { String($0.after) } ?? Self.defaultNamespace
        guard Self.isNamespace(namespace) else {
            throw Self.error(
                in: "the namespace", text: namespace,
                rule:
                    "must begin with a letter, have at most 32 letters, digits, '_' and '-', and not end with _DOC or _DEAD"
            )
        }
    }

    /// True if an address is one of a bus on NATS, or is meant to be one.
    package static func isScheme(of text: String) -> Bool { schemes.contains { text.begins(with: $0) } }

    /// The URLs of the servers, as the client library accepts them.
    package var urls: [String] { servers.map { scheme + $0.description } }

    package var description: String {
        scheme + servers.map(\.description).joined(separator: ",") + "/" + namespace
    }

    private var scheme: String { isEncrypted ? "tls://" : "nats://" }

    /// The streams of a namespace are `NAME`, `NAME_DOC` and `NAME_DEAD`, so a namespace with such an ending could take
    /// the stream of another one for its own.
    private static func isNamespace(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first), text.utf8.count <= 32 else { return false }
        return text.utf8.allSatisfy {
            isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
            && !text.ends(with: "_DOC") && !text.ends(with: "_DEAD")
    }

    private static func error(in part: String, text: String, rule: String) -> BusError {
        // A query can contain a token, and user information is before an "@".
        let isQuotable = text.utf8.count <= 300 && !text.contains(scalarOf: "@?#\r\n")
        return BusError(.address, "\(part)\(isQuotable ? " '\(text)'" : "") \(rule)")
    }
}

extension NATSAddress.Server {
    /// Reads `HOST` or `HOST:PORT`.
    fileprivate init?(_ text: Substring) {
        let portText: Substring
        if let bracketed = text.removing(prefix: "[") {
            guard let (address, after) = bracketed.cut(at: "]") else { return nil }
            guard address.utf8.count(where: { $0 == UInt8(ascii: ":") }) >= 2,
                address.utf8.allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { return nil }
            host = String(address)
            portText = after
        } else {
            let end = text.unicodeScalars.firstIndex(of: ":") ?? text.endIndex
            let name = text[..<end]
            guard (1...253).contains(name.utf8.count),
                name.utf8.allSatisfy({ isLetter($0) || isDigit($0) || "-._".utf8.contains($0) })
            else { return nil }
            host = String(name)
            portText = text[end...]
        }
        if portText.isEmpty {
            port = NATSAddress.defaultPort
        } else {
            guard let digits = portText.removing(prefix: ":"), digits.utf8.allSatisfy(isDigit),
                let number = UInt16(digits), number > 0
            else { return nil }
            port = number
        }
    }
}

private func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
}
