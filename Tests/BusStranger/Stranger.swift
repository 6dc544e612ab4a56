package import BusFormat
package import BusProtocol
package import EventBus
internal import Foundation
package import ZeroMQ

/// A client of a broker that can send any frames. It must only be used on the thread that created it.
package struct Stranger {
    private let socket: Socket
    private let poll: SocketPoll
    private let producer = ProducerID()

    /// The time limit for an answer, in milliseconds. A broker on a loaded machine has taken longer than 30 seconds.
    private static let deadline = 120_000

    package struct NoAnswer: Error {
        package init() {}
    }

    /// Runs `body` on a separate thread, because it blocks while it waits for its socket.
    /// - Parameters:
    ///   - endpoint: The endpoint of one of the broker's sockets.
    ///   - options: Options to set before it connects.
    package static func withConnection<Result: Sendable>(
        to endpoint: String, as type: SocketType = .dealer, options: [SocketOption] = [],
        _ body: @escaping @Sendable (Stranger) throws -> Result
    ) async throws -> Result {
        try await onThread { try body(Stranger(type, endpoint, options)) }
    }

    /// Runs a blocking function on a separate thread.
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

    /// Sends frames unchanged. They are queued until there is a connection.
    package func send(_ frames: [[UInt8]]) throws {
        guard try socket.send(frames) else { throw NoAnswer() }
    }

    /// - Returns: The frames of the next message.
    /// - Throws: ``NoAnswer`` if none arrives.
    package func receive() throws -> [[UInt8]] {
        while try poll.wait(milliseconds: Self.deadline) {
            if let frames = try socket.receive() { return frames }
        }
        throw NoAnswer()
    }

    /// Subscribes a SUB socket.
    package func subscribe(to topic: String) throws {
        try socket.set(.subscribe(topic))
    }

    /// Publishes messages without checking them.
    /// - Parameter sequence: The sequence of the batch.
    package func publish(_ messages: [PublishedMessage], sequence: UInt64 = 1) throws -> Reply {
        let batch = PublishRequest(producer: producer, sequence: sequence, messages: messages)
        try send(Request.publish(batch).frames(id: sequence))
        return try Reply.read(receive()).reply
    }
}

/// Headers that receivers cannot use.
package enum BadHeader: String, CaseIterable, Sendable {
    case empty = ""
    case noJSON = "{"
    case noObject = "[]"
    case noText = "{\"id\":1,\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Greet\"}"
    case noID = "{\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Greet\"}"
    case oldVersion = "{\"id\":\"1\",\"source\":\"s\",\"specversion\":\"0.3\",\"type\":\"command.Greet\"}"
    case otherType = "{\"id\":\"1\",\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Other\"}"
    case otherSubject =
        "{\"id\":\"1\",\"source\":\"s\",\"specversion\":\"1.0\",\"subject\":\"alice\",\"type\":\"command.Greet\"}"
    /// A time that is an escape sequence and a second line.
    case badTime =
        "{\"id\":\"1\",\"source\":\"s\",\"specversion\":\"1.0\",\"time\":\"\\u001b]0;T\\u0007\\nforged\",\"type\":\"command.Greet\"}"
    /// Not UTF-8.
    case noUTF8 = "{\"id\":\"?\",\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Greet\"}"
    /// A type that is longer than a text of the protocol can be, and is not ASCII.
    case long = "long"

    package var bytes: [UInt8] {
        switch self {
        case .noUTF8: rawValue.utf8.map { $0 == UInt8(ascii: "?") ? 0xff : $0 }
        case .long:
            Array(
                #"{"id":"1","source":"s","specversion":"1.0","type":"\#(String(repeating: "é", count: 32_700))"}"#.utf8)
        default: Array(rawValue.utf8)
        }
    }

    /// A message of the session `default`.
    package func message(_ type: MessageType, key: String = "", data: String = "{}") -> PublishedMessage {
        PublishedMessage(
            topic: Topic(type, subject: Session.default).name, subject: Session.default, key: key,
            header: bytes[...], data: Array(data.utf8)[...])
    }
}
