import BusFormat
import BusProtocol
import BusSoak
import BusStranger
import EventBus
import Foundation
import Synchronization
import TestSupport
import Testing
import ZeroMQ
import ZeroMQEventBus

@Suite("Unknown clients of the broker's process", .timeLimit(.minutes(2)))
struct StrangerTests {
    @Test("Each invalid request is refused with its code, is counted in the log, and disturbs no other client")
    func requests() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            try await undisturbed(at: arena.bus, in: arena) {
                let answers = try await Stranger.withConnection(to: "\(arena.bus)/ingress") { stranger in
                    try BadRequest.all.map { request in
                        try stranger.send(request.frames)
                        return try stranger.receive()
                    }
                }
                for (request, answer) in zip(BadRequest.all, answers) {
                    #expect(answer.count == 2, "\(request.name)")
                    #expect(answer.last?.first == request.code, "\(request.name)")
                    #expect(answer.first == Array(request.frames[0].prefix(12)), "\(request.name)")
                }
            }
            let count = BadRequest.all.count(where: \.isNoRequest)
            try await arena.waitUntilLog(of: "broker", "counts \(count) refused requests") { log in
                let reports = log.split(separator: "\n").filter {
                    $0.contains("input that does not follow the protocol")
                }
                return reports.compactMap { $0.firstMatch(of: #/count=(\d+)/#).flatMap { Int($0.1) } }.reduce(0, +)
                    == count
            }
        }
    }

    @Test("A client with invented positions and marks disturbs no other client")
    func overstated() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            try await undisturbed(at: arena.bus, in: arena) {
                let epochs = try await Stranger.withConnection(to: "\(arena.bus)/ingress") { stranger in
                    let producer = ProducerID()
                    var welcomes: [Welcome] = []
                    for number in 0..<200 as Range<UInt64> {
                        let (epoch, head) = (welcomes.last?.epoch ?? 0, welcomes.last?.head ?? 0)
                        let hello = Request.hello(
                            Greeting(
                                producer: producer, epoch: epoch, offset: head + 1 + number, head: head + number,
                                mark: number << 32 | .random(in: 0...0xffff_ffff)))
                        try stranger.send(hello.frames(id: number))
                        guard case .welcome(let welcome) = try Reply.read(stranger.receive()).reply else { continue }
                        welcomes.append(welcome)
                    }
                    return welcomes.map(\.epoch)
                }
                #expect(epochs.count == 200)
                #expect(Set(epochs).count == 1)
            }
            #expect(!arena.log(of: "broker").contains("lost"))
        }
    }

    @Test("A frame beyond the limit closes only its sender's connection")
    func hugeFrame() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            try await undisturbed(at: arena.bus, in: arena) {
                let hello = Request.hello(Greeting(producer: ProducerID()))
                let answers = try await Stranger.withConnection(to: "\(arena.bus)/ingress") { stranger in
                    try stranger.send([[UInt8](repeating: 0x53, count: Limits.maximumFrameSize)])
                    let largest = try stranger.receive()
                    try stranger.send([[UInt8](repeating: 0x53, count: Limits.maximumFrameSize + 1)])
                    // libzmq connects again and sends the next message.
                    try stranger.send(hello.frames(id: 7))
                    return [largest, try stranger.receive()]
                }
                #expect(answers[0].last?.first == ProtocolError.Code.malformed.rawValue)
                #expect(try Reply.read(answers[1]).id == 7)
            }
        }
    }

    @Test("Random bytes on the TCP ports disturb no client")
    func randomBytes() async throws {
        try await Arena.with { arena in
            let port = try await arena.startTCPBroker()
            try await undisturbed(at: "tcp://127.0.0.1:\(port)", in: arena) {
                try await Stranger.onThread {
                    for seed in 1...40 {
                        let isFeed = seed % 2 == 1
                        try BusStranger.RawConnection.open(port: isFeed ? port + 1 : port) { connection in
                            var random = SeededGenerator(seed: UInt64(seed))
                            // Half of the connections complete the greeting, so that libzmq reads the bytes after it as
                            // frames.
                            if seed % 4 < 2 { try connection.greet(as: isFeed ? "SUB" : "DEALER") }
                            for _ in 0..<32 {
                                let count = Int.random(in: 1...8192, using: &random)
                                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                                guard connection.write(bytes) else { return }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("A client cannot end another client's subscription on the feed")
    func feed() async throws {
        try await Arena.with { arena in
            let port = try await arena.startTCPBroker()
            let address = "tcp://127.0.0.1:\(port)"
            try await undisturbed(at: address, in: arena) {
                try await Stranger.withConnection(to: "tcp://127.0.0.1:\(port + 1)", as: .sub) { subscriber in
                    try subscriber.subscribe(to: "event.Noted.")
                    _ = try subscriber.receive()
                    let head = try BusStranger.RawConnection.open(port: port + 1) { try babble($0) }
                    while try FeedPacket.messages(subscriber.receive()).allSatisfy({ $0.offset <= head }) {}
                }
            }
        }
    }

    /// Sends invalid subscriptions to the feed.
    /// - Returns: The end of the journal after that.
    private func babble(_ stranger: BusStranger.RawConnection) throws -> UInt64 {
        try stranger.greet(as: "SUB")
        stranger.write(frame: [])
        for mark: UInt8 in [0, 1, 2, 3, 0, 0] {
            // The subscription of the other clients, the empty subscription, an inbox that is too long, and bytes that
            // are not UTF-8.
            stranger.write(frame: [mark] + Array("event.Noted.".utf8))
            stranger.write(frame: [mark])
            stranger.write(frame: [mark] + [UInt8](repeating: UInt8(ascii: "~"), count: 200))
            stranger.write(frame: [mark, 0xff, 0xfe, 0])
        }
        // The answer comes after all of that was handled.
        stranger.write(frame: [1] + Array("~stranger".utf8))
        while true {
            guard try stranger.readFrame() == Array("~stranger".utf8) else { continue }
            return try Inbox.readAnswer([Array("~stranger".utf8), stranger.readFrame()]).head
        }
    }

    /// Runs a closure, and records its end.
    private final class Flagged: Sendable {
        private let over = Mutex(false)
        private let body: @Sendable () async throws -> Void

        init(_ body: @escaping @Sendable () async throws -> Void) {
            self.body = body
        }

        var isOver: Bool { over.withLock(\.self) }

        func run() async throws {
            defer { over.withLock { $0 = true } }
            try await body()
        }
    }

    /// Runs `body` while a client repeatedly publishes a message and receives it from the feed.
    private func undisturbed(
        at address: String, in arena: Arena, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let recorder = LogRecorder()
        let bus = try EventBus.zeroMQ(
            address: address, source: "test/good", isInsecure: true, logger: recorder.logger)
        let body = Flagged(body)
        try await arena.within(.seconds(60), "the good client was not served") {
            try await bus.whileOpen {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await body.run() }
                    group.addTask {
                        try await bus.withSubscription(to: [.type(Noted.self)], from: .now) { messages in
                            var iterator = messages.makeAsyncIterator()
                            var number = 0
                            repeat {
                                number += 1
                                try await bus.publish(Noted(text: "\(number)"))
                                #expect(try await iterator.next()?.decode(Noted.self).text == "\(number)")
                            } while !body.isOver
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
        let warnings = recorder.lines.filter { $0.hasPrefix("warning") || $0.hasPrefix("error") }
        #expect(warnings.filter { !$0.contains("the bus has no keys") } == [])
    }
}

extension Arena {
    /// Starts a broker that listens on a port of this machine, and on the next one.
    /// - Returns: The port.
    func startTCPBroker() async throws -> Int {
        for attempt in 1...50 {
            // Below the ports that the kernel gives to outgoing connections by default.
            let port = Int.random(in: 10_000..<32_000)
            let name = "broker-\(attempt)"
            _ = try await start(
                name, ["broker", "--bus", "tcp://127.0.0.1:\(port)", "--insecure", "--journal", journal])
            try await waitUntilLog(of: name, "says whether it serves") {
                $0.contains("serving") || $0.contains("cannot listen")
            }
            if log(of: name).contains("serving") { return port }
        }
        throw NoPort()
    }

    struct NoPort: Error {}
}
