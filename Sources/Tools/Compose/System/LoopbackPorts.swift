import Glibc

/// Finds ports of the loopback interface that are not in use.
package enum LoopbackPorts {
    /// Ports that Linux does not give to outgoing connections by default (`net.ipv4.ip_local_port_range`). Until its
    /// service listens, such a port is not taken by a connection of another program.
    private static let range: Range<UInt16> = 20_000..<32_768
    private static let attempts = 100

    /// - Returns: a different port for each name.
    /// - Throws: ``ComposeError`` `no-port`.
    package static func pick(for names: [String]) throws(ComposeError) -> [String: Int] {
        var ports: [String: Int] = [:]
        var descriptors: [CInt] = []
        // All sockets stay open until each name has a port; otherwise the kernel might pick the same port twice.
        defer { for descriptor in descriptors { close(descriptor) } }
        for name in names {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
            descriptors.append(descriptor)
            guard let port = bindAnyPort(descriptor) else {
                let reason = String(cString: strerror(errno))
                throw ComposeError(code: "no-port", message: "no free loopback port for '\(name)': \(reason)")
            }
            ports[name] = port
        }
        return ports
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
}
