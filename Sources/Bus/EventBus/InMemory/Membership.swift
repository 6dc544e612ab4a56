internal import Foundation

/// An instance of a durable consumer.
struct Membership: Hashable, Sendable {
    let consumer: String
    let member: UUID
}
