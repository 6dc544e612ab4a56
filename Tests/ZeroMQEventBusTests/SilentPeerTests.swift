import Broker
import BusConformance
import EventBus
import Foundation
import Glibc
import Logging
import Synchronization
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("Silent TCP connections that are not closed", .timeLimit(.minutes(2)))
struct SilentPeerTests {
    /// The addresses of a broker, and a relay in front of each of its sockets.
    private struct Line: Sendable {
        let broker: String
        let relayed: String
        let ingress: SilentRelay
        let feed: SilentRelay
    }

    /// Runs `body` with a broker on free ports. It tries random ports, because a check for free ports would be a race.
    private func withLine(_ body: @escaping @Sendable (Line) async throws -> Void) async throws {
        try await TestBroker.withDirectory { files in
            for _ in 1...20 {
                // Below the ports that the kernel gives to outgoing connections by default.
                let port = Int.random(in: 5_000..<16_000) * 2
                var configuration = files.configuration
                configuration.address = "tcp://127.0.0.1:\(port)"
                configuration.isInsecure = true
                let settings = configuration
                do {
                    return try await whileRunning({
                        try await SilentRelay.run(from: port + 2, to: port) { ingress in
                            try await SilentRelay.run(from: port + 3, to: port + 1) { feed in
                                try await body(
                                    Line(
                                        broker: settings.address, relayed: "tcp://127.0.0.1:\(port + 2)",
                                        ingress: ingress, feed: feed))
                            }
                        }
                    }) { ready in
                        try await Broker(settings, logger: .silent).run { ready() }
                    }
                } catch let error as BusError where error.code == .address {
                } catch is SilentRelay.Failure {}
            }
            Issue.record("no port is free")
        }
    }

    private func bus(_ address: String) throws -> ZeroMQEventBus {
        try ZeroMQEventBus(address: address, source: "test/1", isInsecure: true, logger: .silent)
    }

    @Test("A subscriber whose feed is silent receives it again, including transient messages")
    func feed() async throws {
        try await withLine { line in
            let (near, far) = (try bus(line.broker), try bus(line.relayed))
            try await near.whileOpen {
                try await far.whileOpen {
                    try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        var iterator = messages.makeAsyncIterator()
                        try await near.publish(numbers: 0..<1)
                        #expect(try await iterator.next()?.decode(Counted.self).number == 0)
                        line.feed.fallSilent()
                        // Recorded messages arrive from the journal. A transient one arrives only when the feed works
                        // again.
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            group.addTask {
                                for number in 1... {
                                    try await near.publish(numbers: number..<number + 1)
                                    let fleeting = try Envelope(Counted(number: -1), source: "test/1")
                                    try await near.publishTransient([fleeting])
                                }
                            }
                            var expected = 1
                            while let number = try await iterator.next()?.decode(Counted.self).number, number >= 0 {
                                #expect(number == expected)
                                expected += 1
                            }
                            group.cancelAll()
                        }
                    }
                }
            }
        }
    }

    @Test("A subscription that begins while the feed is silent becomes live")
    func confirmation() async throws {
        try await withLine { line in
            let far = try bus(line.relayed)
            try await far.whileOpen {
                try await far.withSubscription(to: [.type(Recounting.self)], from: .now) { _ in }
                line.feed.fallSilent()
                try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    try await far.publish(numbers: 0..<1)
                    #expect(try await messages.receive(1).numbers == [0])
                }
            }
        }
    }

    @Test("A client whose connections are both silent publishes and reads again, without a loss")
    func both() async throws {
        try await withLine { line in
            let (near, far) = (try bus(line.broker), try bus(line.relayed))
            try await near.whileOpen {
                try await far.whileOpen {
                    try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        try await far.publish(numbers: 0..<1)
                        line.ingress.fallSilent()
                        line.feed.fallSilent()
                        try await near.publish(numbers: 1..<2)
                        try await far.publish(numbers: 2..<3)
                        #expect(try await messages.receive(3).numbers == [0, 1, 2])
                    }
                }
            }
        }
    }
}

private struct Recounting: EventMessage {}

/// Forwards bytes between TCP connections until ``fallSilent()``: then the open connections stay open and forward
/// nothing, as if a cable had been pulled. Connections that are opened later work.
final class SilentRelay: Sendable {
    struct Failure: Error {}

    private struct Pair {
        let ends: [CInt]
    }

    private struct Orders {
        var silence = false
        var isOver = false
    }

    private let orders = Mutex(Orders())

    /// Relays for as long as `body` runs.
    static func run<Result: Sendable>(
        from port: Int, to target: Int, _ body: (SilentRelay) async throws -> Result
    ) async throws -> Result {
        let relay = SilentRelay()
        let listener = try socketOf(port) { bind($0, $1, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        guard listen(listener, 16) == 0 else { throw Failure() }
        Thread { relay.loop(listener, target) }.start()
        defer { relay.orders.withLock { $0.isOver = true } }
        return try await body(relay)
    }

    /// Stops forwarding on the connections that are open now.
    func fallSilent() {
        orders.withLock { $0.silence = true }
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
            throw Failure()
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
        var sent = 0
        while sent < count {
            let more = buffer[sent..<count].withUnsafeBytes { send(to, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard more > 0 else { return false }
            sent += more
        }
        return true
    }
}
