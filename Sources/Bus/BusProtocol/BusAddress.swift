package import EventBus

/// Where a broker is: `ipc://DIRECTORY` or `tcp://HOST:PORT`.
package struct BusAddress: Hashable, Sendable, CustomStringConvertible {
    package enum Location: Hashable, Sendable {
        case directory(String)
        case network(host: String, port: UInt16)
    }

    package let location: Location

    /// - Throws: ``BusError`` with code `address` when the text is neither form, or a socket's path would not fit.
    package init(_ text: String) throws(BusError) {
        if text.hasPrefix("ipc:///") {
            location = .directory(String(text.dropFirst("ipc://".count)))
            // sockaddr_un holds 107 characters; libzmq fails with a bare ENAMETOOLONG.
            guard ingress.utf8.count - "ipc://".utf8.count <= 107 else {
                throw BusError(
                    .address, "\(text) is too long: a socket's path has at most 107 characters; use a shorter directory"
                )
            }
        } else if text.hasPrefix("tcp://"), let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0, port < UInt16.max
        {
            location = .network(host: String(text.dropFirst("tcp://".count)[..<colon]), port: port)
        } else {
            throw BusError(.address, "'\(text)' is not a bus: use ipc:///DIRECTORY or tcp://HOST:PORT")
        }
    }

    /// Where messages are handed in.
    package var ingress: String { endpoint(socket: "ingress", portOffset: 0) }
    /// Where messages come out: the next port, or the socket beside.
    package var feed: String { endpoint(socket: "feed", portOffset: 1) }

    /// The directory that holds the sockets; nil for a network address.
    package var directory: String? {
        if case .directory(let directory) = location { directory } else { nil }
    }

    private func endpoint(socket: String, portOffset: UInt16) -> String {
        switch location {
        case .directory(let directory): "ipc://\(directory)/\(socket)"
        case .network(let host, let port): "tcp://\(host):\(port + portOffset)"
        }
    }

    package var description: String {
        switch location {
        case .directory(let directory): "ipc://\(directory)"
        case .network(let host, let port): "tcp://\(host):\(port)"
        }
    }
}
