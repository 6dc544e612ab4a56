import Glibc

/// A free port of the loopback interface, which stays reserved while the object exists.
///
/// Its socket is bound and never listens. A server that sets `SO_REUSEADDR`, as most do, can listen at the port all the
/// same, and again after it has ended: socket(7). No other reservation gets the port in the meantime.
package final class LoopbackPort: Sendable {
    /// Ports that Linux does not give to outgoing connections by default (`net.ipv4.ip_local_port_range`). Until its
    /// service listens, such a port is not taken by a connection of another program.
    private static let range: Range<UInt16> = 20_000..<32_768
    private static let attempts = 100

    package let number: Int
    private let descriptor: CInt

    /// - Parameter name: What the port is for, for the error.
    /// - Throws: ``ComposeError`` `no-port`.
    package init(for name: String) throws(ComposeError) {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        guard let number = Self.bindAnyPort(descriptor), Self.allowReuse(descriptor) else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw ComposeError(code: "no-port", message: "no free loopback port for '\(name)': \(reason)")
        }
        self.number = number
    }

    deinit { close(descriptor) }

    /// Picks a port for each name, for programs that may not set `SO_REUSEADDR`. The ports are not reserved any more.
    /// - Returns: A different port for each name.
    /// - Throws: ``ComposeError`` `no-port`.
    package static func pick(for names: [String]) throws(ComposeError) -> [String: Int] {
        var ports: [String: LoopbackPort] = [:]
        for name in names { ports[name] = try LoopbackPort(for: name) }
        return ports.mapValues(\.number)
    }

    private static func bindAnyPort(_ descriptor: CInt) -> Int? {
        for _ in 0..<attempts {
            if let port = bind(descriptor, to: .random(in: range)) { return port }
        }
        return bind(descriptor, to: 0)
    }

    /// - Parameter port: 0 for a port that the kernel picks.
    /// - Returns: The bound port. Nil if it is in use.
    private static func bind(_ descriptor: CInt, to port: UInt16) -> Int? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    /// Lets servers use the port. Set before the socket is bound, it would let another reservation have the port, too.
    private static func allowReuse(_ descriptor: CInt) -> Bool {
        var on: CInt = 1
        return setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size)) == 0
    }
}
