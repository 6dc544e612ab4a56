internal import Foundation
internal import Glibc

/// A TCP connection to a port of this machine, over which any bytes can be sent. It must only be used on the thread
/// that created it.
package struct RawConnection {
    private let descriptor: CInt

    package struct Failure: Error {
        package let call: String
        package let reason: String

        init(_ call: String) {
            self.call = call
            reason = String(cString: strerror(errno))
        }
    }

    /// Runs `body` with a connection. Call this on a thread that may block.
    package static func open<Result>(port: Int, _ body: (RawConnection) throws -> Result) throws -> Result {
        let connection = try RawConnection(port: port)
        defer { close(connection.descriptor) }
        return try body(connection)
    }

    private init(port: Int) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        var deadline = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
        guard isConnected else {
            defer { close(descriptor) }
            throw Failure("connect")
        }
    }

    /// - Returns: False if the other side has closed the connection.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits for `count` bytes.
    /// - Throws: ``Failure`` if they do not arrive.
    @discardableResult
    package func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard recv(descriptor, &bytes, count, CInt(MSG_WAITALL)) == count else { throw Failure("recv") }
        return bytes
    }

    /// Completes the greeting and handshake of libzmq (ZMTP 3.0, without security), so that frames can follow.
    /// - Parameter type: The type of the socket that this connection pretends to be.
    package func greet(as type: String) throws {
        write([0xff] + [UInt8](repeating: 0, count: 8) + [0x7f, 3, 0])
        write(Array("NULL".utf8) + [UInt8](repeating: 0, count: 48))
        let property = [11] + Array("Socket-Type".utf8) + [0, 0, 0, UInt8(type.utf8.count)] + Array(type.utf8)
        let ready = [5] + Array("READY".utf8) + property
        write([4, UInt8(ready.count)] + ready)
        try read(64)
        let command = try read(2)
        try read(Int(command[1]))
    }

    /// Waits for a frame of a message or a command.
    package func readFrame() throws -> [UInt8] {
        let isLong = try read(1)[0] & 2 != 0
        let size = try read(isLong ? 8 : 1).reduce(0) { $0 << 8 | Int($1) }
        return size > 0 ? try read(size) : []
    }

    /// Writes a message of one frame with at most 255 bytes.
    package func write(frame: [UInt8]) {
        write([0, UInt8(frame.count)] + frame)
    }
}
