internal import Foundation
internal import Glibc

/// A connection to a server on this machine, of which a test sends every byte itself.
package final class RawConnection: Sendable {
    package struct Refused: Error {
        package let errorNumber: Int32
    }

    private let descriptor: CInt

    /// - Parameters:
    ///   - address: An IPv4 address of this machine. A server that listens on 127.0.0.1 refuses connections to all others,
    ///     such as 127.0.0.2.
    ///   - receiveBuffer: The size of the buffer for received bytes. Nil for the system's.
    package init(port: Int, address: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
        descriptor = try Self.connect(port, address, receiveBuffer: receiveBuffer)
    }

    deinit {
        Glibc.close(descriptor)
    }

    private static func connect(_ port: Int, _ host: String, receiveBuffer: Int32?) throws -> Int32 {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr(host)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            let refused = Refused(errorNumber: errno)
            Glibc.close(descriptor)
            throw refused
        }
        return descriptor
    }

    package func send(_ text: String) {
        let bytes = Array(text.utf8)
        Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }

    /// Waits for bytes on the calling thread.
    /// - Returns: Empty if the connection has ended.
    package func receive() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    /// Ends the connection in both directions. A call of ``receive()`` that waits returns. The descriptor stays open as
    /// long as this object exists, so no other socket can get its number.
    package func shutdown() {
        Glibc.shutdown(descriptor, CInt(SHUT_RDWR))
    }

    /// True if the server has closed the connection.
    package var isClosed: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
        return count == 0 || count < 0 && errno == ECONNRESET
    }

    /// Everything that the server sends before it closes the connection.
    package func answer() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var answer: [UInt8] = []
                while case let bytes = receive(), !bytes.isEmpty { answer += bytes }
                continuation.resume(returning: String(decoding: answer, as: UTF8.self))
            }
        }
    }
}
