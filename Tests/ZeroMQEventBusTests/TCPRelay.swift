import EventBus
import Foundation
import Glibc
import Synchronization
import TestSupport

/// A broker that runs on free ports, and a relay in front of each of its sockets.
struct RelayedBroker: Sendable {
    let broker: TestBroker
    let ingress: TCPRelay
    let feed: TCPRelay

    /// The broker, as clients see it that connect to the relays.
    var relayed: TestBroker {
        var relayed = broker
        relayed.port = broker.port.map { $0 + 2 }
        return relayed
    }
}

extension TestBroker {
    /// Runs a broker and the relays for as long as `body` runs.
    func withRelays(_ body: @escaping @Sendable (RelayedBroker) async throws -> Void) async throws {
        try await onPort { broker in
            guard let port = broker.port else { return }
            try await broker.run {
                try await TCPRelay.run(from: port + 2, to: port) { ingress in
                    try await TCPRelay.run(from: port + 3, to: port + 1) { feed in
                        try await body(RelayedBroker(broker: broker, ingress: ingress, feed: feed))
                    }
                }
            }
        }
    }
}

/// Forwards bytes between TCP connections until ``fallSilent()``: then the open connections stay open and forward
/// nothing, as if a cable had been pulled. Connections that are opened later work. What was forwarded is recorded.
final class TCPRelay: Sendable {
    private struct Pair {
        let ends: [CInt]
    }

    private struct Orders {
        var silence = false
        var isOver = false
    }

    private let orders = Mutex(Orders())
    private let forwarded = Mutex(Data())

    /// Relays for as long as `body` runs.
    static func run<Result: Sendable>(
        from port: Int, to target: Int, _ body: (TCPRelay) async throws -> Result
    ) async throws -> Result {
        let relay = TCPRelay()
        let listener = try socketOf(port) { bind($0, $1, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        guard listen(listener, 16) == 0 else { throw BusError(.address, "a relay's port is not free") }
        Thread { relay.loop(listener, target) }.start()
        defer { relay.orders.withLock { $0.isOver = true } }
        return try await body(relay)
    }

    /// Stops forwarding on the connections that are open now.
    func fallSilent() {
        orders.withLock { $0.silence = true }
    }

    /// True if `text` was forwarded, in either direction.
    func hasSeen(_ text: String) -> Bool {
        forwarded.withLock { $0.range(of: Data(text.utf8)) != nil }
    }

    private static func socketOf(
        _ port: Int, _ use: (CInt, UnsafePointer<sockaddr>) -> CInt
    ) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { use(descriptor, $0) }
        }
        guard status == 0 else {
            close(descriptor)
            throw BusError(.address, "the relay's port is not free")
        }
        return descriptor
    }

    private func loop(_ listener: CInt, _ target: Int) {
        var (pairs, silent): ([Pair], [Pair]) = ([], [])
        defer { for descriptor in [listener] + (pairs + silent).flatMap(\.ends) { close(descriptor) } }
        while true {
            let orders = orders.withLock { orders in
                defer { orders.silence = false }
                return orders
            }
            if orders.isOver { return }
            if orders.silence { (pairs, silent) = ([], silent + pairs) }
            var items = ([listener] + pairs.flatMap(\.ends)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&items, nfds_t(items.count), 20)
            let ready = Set(items.filter { $0.revents != 0 }.map(\.fd))
            pairs = pairs.filter { pair in
                let isOpen = zip(pair.ends, pair.ends.reversed()).allSatisfy { from, to in
                    !ready.contains(from) || pass(from, to)
                }
                if !isOpen { pair.ends.forEach { close($0) } }
                return isOpen
            }
            guard ready.contains(listener), case let client = accept(listener, nil, nil), client >= 0 else { continue }
            let server = try? Self.socketOf(target) { connect($0, $1, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            if let server { pairs.append(Pair(ends: [client, server])) } else { close(client) }
        }
    }

    /// Forwards the bytes that have arrived on one connection.
    /// - Returns: False if the connection is closed.
    private func pass(_ from: CInt, _ to: CInt) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(from, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        forwarded.withLock { $0.append(contentsOf: buffer[..<count]) }
        var sent = 0
        while sent < count {
            let more = buffer[sent..<count].withUnsafeBytes { send(to, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard more > 0 else { return false }
            sent += more
        }
        return true
    }
}
