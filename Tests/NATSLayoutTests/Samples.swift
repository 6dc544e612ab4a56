import BusFormat
import EventBus
import Foundation
import TestSupport

@testable import NATSLayout

/// Messages and texts for the tests of the layout.
enum Samples {
    /// The characters of random texts. Every character that has a meaning in a subject is among them.
    private static let characters = Array("aZ09_-~.+*>$ /%äé😀\u{0301}2d")

    static func text(upTo length: Int, _ generator: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0...length, using: &generator)).map { _ in
                characters.randomElement(using: &generator) ?? "a"
            })
    }

    static func message(
        _ type: MessageType, subject: String = "default", key: String? = nil, data: String = "{}", id: String = "1"
    ) -> Envelope {
        var attributes = Attributes(
            type: type, source: "test/1", subject: subject, id: id, time: Date(timeIntervalSince1970: 1_700_000_000))
        attributes.key = key
        attributes.traceparent = nil
        return Envelope(attributes: attributes, data: Data(data.utf8))
    }

    static func stored(_ message: Envelope, at offset: UInt64, epoch: UInt64 = 1) throws -> BatchMessage.Stored {
        BatchMessage.Stored(message: try PublishedMessage(message), position: Position(epoch: epoch, offset: offset))
    }

    static func claim(_ consumer: String, ownerGeneration: UInt64 = 3) -> ConsumerClaim {
        ConsumerClaim(
            consumer: consumer, member: .shared, ownerGeneration: ownerGeneration, epoch: 1,
            offsets: Dictionary(uniqueKeysWithValues: Partition.all.map { ($0, 0) }))
    }
}

/// The rules of NATS for subjects, written without the code that is tested.
enum NATSRules {
    static func isSubject(_ text: String) -> Bool {
        !text.isEmpty
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { token in
                !token.isEmpty && token != "*" && token != ">" && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
            }
    }

    static func matches(_ subject: String, _ filter: String) -> Bool {
        let subject = subject.split(separator: ".")
        let filter = filter.split(separator: ".")
        for (index, token) in filter.enumerated() {
            if token == ">" { return subject.count > index }
            guard index < subject.count, token == "*" || token == subject[index] else { return false }
        }
        return subject.count == filter.count
    }

    /// True if there is a subject that both filters match: JetStream refuses a consumer with two such filters.
    static func collide(_ left: String, _ right: String) -> Bool {
        let left = left.split(separator: ".")
        let right = right.split(separator: ".")
        for index in 0..<max(left.count, right.count) {
            guard index < left.count, index < right.count else { return false }
            if left[index] == ">" || right[index] == ">" { return true }
            guard left[index] == "*" || right[index] == "*" || left[index] == right[index] else { return false }
        }
        return true
    }
}
