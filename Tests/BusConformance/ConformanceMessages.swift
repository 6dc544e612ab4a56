internal import EventBus
internal import Foundation
internal import TestSupport

/// An event of another type than ``Counted``.
struct Other: EventMessage {
    var number: Int
}

/// A command, that is a message of another kind than ``Counted``.
struct Order: CommandMessage {
    var number: Int
}

/// The result of a worker for a ``Counted``.
struct Handled: EventMessage {
    var number: Int
    var worker: String
}

/// An answer that is an error.
struct Trouble: ErrorMessage {}

/// The end of a part of a case. When it arrives, all earlier messages have arrived.
struct Marker: EventMessage {}

extension EventBus {
    /// Withdraws a document.
    func withdraw(_ setting: Setting) async throws {
        var tombstone = try Envelope(setting, source: source)
        tombstone.data = .init()
        try await publish(Batch([tombstone]))
    }
}
