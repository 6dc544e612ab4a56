package import EventBus
internal import Support

/// The address of a broker: `ipc:///DIRECTORY` or `tcp://HOST:PORT`, with a port from 1 to 65534.
package struct BusAddress: Hashable, Sendable, CustomStringConvertible {
    package enum Location: Hashable, Sendable {
        case directory(String)
        case network(host: String, port: UInt16)
    }

    package let location: Location

    /// - Throws: ``BusError`` with code `address` if `text` is neither `ipc:///DIRECTORY` nor `tcp://HOST:PORT`, or if
    ///   the path of a socket would exceed 107 bytes.
    package init(_ text: String) throws(BusError) {
        if let path = text.removing(prefix: "ipc://"), path.begins(with: "/") {
            location = .directory(String(path))
            // A `sockaddr_un` holds a path of at most 107 bytes. For a longer path libzmq fails with ENAMETOOLONG.
            guard ingress.utf8.count - "ipc://".utf8.count <= 107 else {
                throw BusError(
                    .address,
                    "'\(text)' is too long: the path of a socket has at most 107 bytes; use a shorter directory"
                )
            }
        } else if let (host, number) = text.removing(prefix: "tcp://")?.cut(atLast: ":"), let port = UInt16(number),
            port > 0, port < UInt16.max
        {
            location = .network(host: String(host), port: port)
        } else {
            throw BusError(.address, "'\(text)' is not the address of a bus; write ipc:///DIRECTORY or tcp://HOST:PORT")
        }
    }

    /// The endpoint of the ingress: clients send requests to it.
    package var ingress: String { endpoint(socket: "ingress", portOffset: 0) }
    /// The endpoint of the feed: clients receive messages from it. In a directory it is the socket `feed`; on a network
    /// it is the port after that of the ingress.
    package var feed: String { endpoint(socket: "feed", portOffset: 1) }

    /// The directory of the sockets; nil for a network address.
    package var directory: String? {
        if case .directory(let directory) = location { directory } else { nil }
    }

    /// Checks that the bus has keys, or needs none. A folder is protected by its mode, so only a network needs them.
    /// - Throws: ``BusError`` with code `address` for a network without keys, unless `isInsecure`.
    package func checkProtection(hasKeys: Bool, isInsecure: Bool) throws(BusError) {
        guard case .network = location, !hasKeys, !isInsecure else { return }
        throw BusError(
            .address,
            "\(self) needs keys: make them with 'segue keys init' and 'segue keys add', and set SEGUE_BUS_CURVE to the "
                + "key file; or give the broker and every program --insecure, if all who reach the port may do "
                + "everything")
    }

    /// The warning of a process that uses a network without keys; nil if the bus is protected.
    package func warning(hasKeys: Bool) -> String? {
        guard case .network = location, !hasKeys else { return nil }
        return "the bus has no keys: all who reach it may read and publish everything"
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
