import Glibc

/// The address of a Unix socket; a leading `@` stands for the abstract namespace, as in `$NOTIFY_SOCKET`.
struct UnixAddress {
    /// What fits beside the terminating zero in `sockaddr_un.sun_path`.
    static let longestPath = 107

    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Returns: `nil` when the path is empty or too long.
    init?(_ path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestPath else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            if path.hasPrefix("@") { target[0] = 0 }
        }
        let terminator = path.hasPrefix("@") ? 0 : 1
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + terminator)
    }

    func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
