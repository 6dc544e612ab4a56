import BusConformance
import BusStranger
import EventBus
import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("A flood of connections without a key", .timeLimit(.minutes(1)))
struct FloodTests {
    @Test("Clients lose nothing, a new client gets in during the flood and after it, and the flood is reported once")
    func flood() async throws {
        let log = LogRecorder()
        try await TestBroker.withKeys(of: ["test", "guest"]) { broker, _ in
            try await broker.onPort { broker in
                var broker = broker
                broker.connectionLimit = 32
                let flooded = broker
                let port = try #require(broker.port)
                try await flooded.run(logger: log.logger) {
                    let bus = try flooded.bus()
                    try await bus.whileOpen {
                        try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                            try await bus.publish(numbers: 0..<10)
                            let crowd = try Crowd(ports: [port, port + 1], count: 200)
                            try await bus.publish(numbers: 10..<100, batch: 10)
                            await crowd.waitUntilOnly(32)
                            try await Self.publishAsGuest(numbers: 100..<110, at: flooded)
                            await crowd.leave()
                            try await Self.publishAsGuest(numbers: 110..<120, at: flooded)
                            try await bus.publish(numbers: 120..<130)
                            #expect(try await messages.receive(130).numbers == Array(0..<130))
                        }
                    }
                    try await flooded.waitForAudit("connection-ended")
                }
            }
        }
        #expect(log.text.split(separator: "connections were ended (").count == 2)
    }

    @Test("A connection whose message has no end is ended before it takes a gibibyte", arguments: ["DEALER", "SUB"])
    func endless(type: String) async throws {
        let log = LogRecorder()
        try await TestBroker.withDirectory { broker in
            try await broker.onPort { broker in
                try await broker.run(logger: log.logger) {
                    let bus = try broker.bus()
                    try await bus.whileOpen {
                        try await bus.publish(numbers: 0..<10)
                        let thread = ExecutorThread(name: "endless")
                        defer { thread.stop() }
                        let port = try #require(broker.port) + (type == "SUB" ? 1 : 0)
                        let count = await thread.call { Result { try Self.writeEndlessMessage(to: port, as: type) } }
                        // What is taken in a second would be several gibibytes.
                        #expect(32..<1024 ~= (try count.get()))
                        try await bus.publish(numbers: 10..<20)
                        try await log.wait(for: "their message had no end")
                    }
                }
            }
        }
    }

    /// Writes frames of a mebibyte, each followed by another one, until the broker ends the connection.
    /// - Parameter type: The type of the socket that this connection pretends to be.
    /// - Returns: The number of frames.
    private static func writeEndlessMessage(to port: Int, as type: String) throws -> Int {
        try BusStranger.RawConnection.open(port: port) { connection in
            try connection.greet(as: type)
            // The flags for a long frame that is not the last one, and its length in 8 bytes.
            let frame = [3, 0, 0, 0, 0, 0, 16, 0, 0] + [UInt8](repeating: 7, count: 1 << 20)
            var count = 0
            while connection.write(frame) { count += 1 }
            return count
        }
    }

    private static func publishAsGuest(numbers: Range<Int>, at broker: TestBroker) async throws {
        let guest = try broker.bus("guest/1", key: "guest")
        try await guest.whileOpen { try await guest.publish(numbers: numbers) }
    }
}

/// Many TCP connections that send nothing.
private actor Crowd {
    private let thread = ExecutorThread(name: "crowd")
    private var descriptors: [CInt] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(ports: [Int], count: Int) throws {
        for _ in 0..<count {
            for port in ports {
                let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
                try #require(descriptor >= 0)
                descriptors.append(descriptor)
                _ = Self.with(port: port) { connect(descriptor, $0, $1) }
            }
        }
    }

    private static func with(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Waits until at most `count` connections are open. Blocks the thread, which does nothing else.
    func waitUntilOnly(_ count: Int) {
        var open = descriptors
        var greeting = [UInt8](repeating: 0, count: 256)
        while open.count > count {
            var items = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&items, nfds_t(items.count), 10_000)
            let ended = items.filter { $0.revents != 0 && recv($0.fd, &greeting, greeting.count, 0) <= 0 }.map(\.fd)
            open.removeAll(where: Set(ended).contains)
        }
    }

    func leave() {
        for descriptor in descriptors { close(descriptor) }
        descriptors = []
        thread.stop()
    }
}
