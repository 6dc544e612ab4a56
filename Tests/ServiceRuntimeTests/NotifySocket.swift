import Dispatch
import Foundation
import Glibc

/// A supervisor's end of sd_notify: a bound datagram socket.
final class NotifySocket {
    /// What was notified, in order.
    let states: AsyncStream<String>
    private let source: any DispatchSourceRead

    struct CannotBind: Error {}

    /// - Parameter path: where to bind it; `@name` for the abstract namespace.
    init(path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            buffer.copyBytes(from: bytes)
            if bytes.first == UInt8(ascii: "@") { buffer[0] = 0 }
        }
        let isAbstract = bytes.first == UInt8(ascii: "@")
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else {
            close(descriptor)
            throw CannotBind()
        }
        let (states, continuation) = AsyncStream.makeStream(of: String.self)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { continuation.yield(String(decoding: buffer.prefix(count), as: UTF8.self)) }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        self.states = states
        self.source = source
    }

    deinit { source.cancel() }
}
