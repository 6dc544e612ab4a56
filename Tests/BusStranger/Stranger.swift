package import BusProtocol
internal import Foundation
package import ZeroMQ

/// A client of a broker that sends what it likes. It belongs to the thread that it was made on.
package struct Stranger {
    private let socket: Socket
    private let poll: SocketPoll
    private let producer = ProducerID()

    /// How long an answer is waited for. A broker that works comes nowhere near it.
    private static let deadline = 30_000

    package struct NoAnswer: Error {
        package init() {}
    }

    /// Runs `body` on a thread of its own: it waits for its socket.
    /// - Parameters:
    ///   - endpoint: of one of the broker's sockets.
    ///   - options: set before it connects.
    package static func meets<Result: Sendable>(
        _ endpoint: String, as type: SocketType = .dealer, options: [SocketOption] = [],
        _ body: @escaping @Sendable (Stranger) throws -> Result
    ) async throws -> Result {
        try await onThread { try body(Stranger(type, endpoint, options)) }
    }

    /// Runs on a thread of its own what waits.
    package static func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Swift.Result(catching: body)) }.start()
        }
    }

    private init(_ type: SocketType, _ endpoint: String, _ options: [SocketOption]) throws {
        socket = try Socket(type, options: [.linger(0)] + options)
        poll = SocketPoll([socket])
        try socket.connect(endpoint)
    }

    /// Sends frames as they are. They wait for the connection.
    package func send(_ frames: [[UInt8]]) throws {
        guard try socket.send(frames) else { throw NoAnswer() }
    }

    /// - Returns: the frames of the next message.
    /// - Throws: ``NoAnswer`` when none comes.
    package func receive() throws -> [[UInt8]] {
        while try poll.wait(milliseconds: Self.deadline) {
            if let frames = try socket.receive() { return frames }
        }
        throw NoAnswer()
    }

    /// For a SUB socket.
    package func subscribe(to topic: String) throws {
        try socket.set(.subscribe(topic))
    }

    /// Publishes messages as they are.
    /// - Parameter sequence: of the batch.
    package func publish(_ messages: [PublishedMessage], sequence: UInt64 = 1) throws -> Reply {
        let batch = PublishRequest(producer: producer, sequence: sequence, messages: messages)
        try send(Request.publish(batch).frames(id: sequence))
        return try Reply.read(receive()).reply
    }
}
