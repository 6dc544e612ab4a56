internal import BusFormat
package import BusKeys
internal import BusProtocol
internal import EventBus
internal import Foundation
package import Support
internal import Synchronization
internal import ZeroMQ
internal import ZeroMQEventBus

/// A program that knows the protocol, has a key, and means harm.
package final class Attacker: Sendable {
    private let isRunning = Mutex(true)
    /// Open after the attack has done something hundreds of times.
    package let isUnderWay = Latch()

    /// Begins an attack on a thread of its own.
    package init(_ attack: Attack, on address: String, with key: KeyFile) throws {
        let address = try BusAddress(address)
        Thread.detachNewThread { [weak self] in
            do {
                var weapon = try Weapon(attack, address, key)
                while self?.isRunning.withLock(\.self) == true {
                    try weapon.use()
                    if weapon.useCount == 300 { self?.isUnderWay.open() }
                }
            } catch {
                self?.failure.withLock { $0 = error }
            }
            self?.isUnderWay.open()
        }
    }

    /// The error with which the attack has ended.
    package var error: (any Error)? { failure.withLock(\.self) }
    private let failure = Mutex<(any Error)?>(nil)

    deinit {
        stop()
    }

    package func stop() {
        isRunning.withLock { $0 = false }
    }
}

/// The sockets of an attack. They belong to one thread.
private struct Weapon {
    private let attack: Attack
    private let address: BusAddress
    private let options: [SocketOption]
    private var requests: [Socket] = []
    private var feed: Socket?
    private let producers = (0..<64).map { _ in ProducerID() }
    private var number: UInt64 = 0
    private(set) var useCount = 0

    init(_ attack: Attack, _ address: BusAddress, _ key: KeyFile) throws {
        self.attack = attack
        self.address = address
        // Large requests would fill the memory of the attacker while the broker does not run.
        options = key.options + [.linger(0), .sendHighWaterMark([.documents, .queries].contains(attack) ? 4 : 1000)]
        let count =
            switch attack {
            case .batches, .scans, .documents, .unread: 64
            case .topics, .producers, .consumers, .queries: 4
            case .connections, .handshakes, .subscriptions: 0
            }
        for _ in 0..<count { requests.append(try connect()) }
        if attack == .queries {
            let type = MessageType(kind: .query, name: "Endless")
            _ = try send(.serve(ServeRequest(producer: producers[0], types: [type])))
        }
    }

    private func connect() throws -> Socket {
        // Of a peer that does not read, libzmq reads little.
        let socket = try Socket(.dealer, options: options + [.receiveHighWaterMark(1)])
        try socket.connect(address.ingress)
        return socket
    }

    /// Does one piece of the attack.
    mutating func use() throws {
        number += 1
        useCount += 1
        switch attack {
        case .batches: try publish(Self.message("Flood", number: number % 8), count: 8)
        case .documents:
            try publish(Self.message("Flood", kind: .document, number: number, size: Limits.dataSize))
        case .topics: try publish(Self.message("Flood\(number)", number: number), count: 8)
        case .scans: try exchange(.read(PageRequest(epoch: 0, after: 0, prefixes: ["event.Unknown."])))
        case .unread:
            if try !send(.read(PageRequest(epoch: 0, after: 0, prefixes: ["event."]))) { pause() }
        case .connections:
            if requests.count < 300 { requests.append(try connect()) } else { pause() }
            _ = try requests.last?.send(hello(as: ProducerID()).frames(id: number))
        case .handshakes:
            let socket = try connect()
            _ = try socket.send(Request.end.frames(id: number))
            requests = requests.suffix(20) + [socket]
            pause()
        case .subscriptions: try subscribe()
        case .producers: try exchange(hello(as: ProducerID()))
        case .consumers:
            let producer = producers[0]
            try exchange(
                .claim(
                    ClaimRequest(producer: producer, member: .exclusive, consumer: "c\(number)", purpose: .claim)))
        case .queries:
            let query = Self.message("Endless", kind: .query, number: number, size: 1 << 20)
            try exchange(.ask(AskRequest(timeout: 60_000, query: query)))
        }
    }

    private static func message(
        _ name: String, kind: MessageKind = .event, number: UInt64, size: Int = 100
    ) -> PublishedMessage {
        let type = MessageType(kind: kind, name: name)
        let subject = "s\(number)"
        return PublishedMessage(
            topic: Topic(type, subject: subject).name, subject: subject, key: "", header: Array("{}".utf8)[...],
            data: [UInt8](repeating: 7, count: size)[...])
    }

    private func hello(as producer: ProducerID) -> Request {
        .hello(Greeting(producer: producer, epoch: 0, head: 0, mark: 0))
    }

    private func publish(_ message: PublishedMessage, count: Int = 1) throws {
        // Each connection has a producer of its own.
        let index = Int(number) % requests.count
        let batch = PublishRequest(
            producer: producers[index], sequence: number / UInt64(requests.count) + 1,
            messages: Array(repeating: message, count: count))
        try exchange(.publish(batch))
    }

    /// Sends a request over the next connection, and reads what has come.
    private func exchange(_ request: Request) throws {
        for socket in requests { while try socket.receive() != nil {} }
        if try !send(request) { pause() }
    }

    private func send(_ request: Request) throws -> Bool {
        try requests[Int(number) % requests.count].send(request.frames(id: number))
    }

    private mutating func subscribe() throws {
        if feed == nil || number % 400_000 == 0 {
            feed = try Socket(.sub, options: options + [.sendHighWaterMark(0)])
            try feed?.connect(address.feed)
        }
        for _ in 0..<1000 {
            number += 1
            try feed?.set(.subscribe("event.Unknown\(number)."))
        }
        pause(milliseconds: 2)
    }

    private func pause(milliseconds: Int = 1) {
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
    }
}
