#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The address of a Unix socket (unix(7)).
struct SocketAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Returns: nil if the path is empty, or too long for a socket's address.
    init?(path: String) {
        var bytes = Array(path.utf8)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        let capacity = MemoryLayout<sockaddr_un>.size - offset
        // A path ends with a null byte; an abstract name begins with one, and its length is exactly what is given.
        guard bytes.count > 1, bytes.count < capacity else { return nil }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 } else { bytes.append(0) }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        length = socklen_t(offset + bytes.count)
    }

    func withSockaddr(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
