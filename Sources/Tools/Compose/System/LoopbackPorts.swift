import Glibc

/// Finds ports of the loopback interface that are not in use.
enum LoopbackPorts {
    /// - Returns: a different port for each name.
    /// - Throws: ``ComposeError`` `no-port`.
    static func pick(for names: [String]) throws(ComposeError) -> [String: Int] {
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
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
