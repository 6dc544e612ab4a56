import EventBus
import Foundation

/// A command for the tests' consumers. Some of these commands fail.
struct Work: CommandMessage {
    let number: Int
    var fail: Bool?
}

/// The consumer's result for ``Work``.
struct Handled: EventMessage {
    let number: Int
}

struct Level: DocumentMessage {
    let number: Int
    var key: String?
}

struct Question: QueryMessage {
    struct Answer: Codable, Equatable {
        let echo: Number
    }
    let number: Int
}

/// The field that the data of all messages has.
struct Number: Codable, Equatable {
    let number: Int
}

/// A message as the Python clients print it.
struct PrintedMessage: Decodable {
    let offset: UInt64
    let type: String
    let subject: String
    let data: Number?

    init(_ line: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    }
}
