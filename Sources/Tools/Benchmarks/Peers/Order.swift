/// What a peer is told to do, one JSON object a line; it answers each with a ``Report``.
struct Order: Codable, Sendable {
    enum Action: String, Codable {
        /// Get everything ready that is not to be measured.
        case prepare
        case run
    }

    var action: Action
    /// Messages that are to be moved.
    var count: Int
    /// Messages that are acknowledged but not journalled.
    var isTransient = false
    /// Subscribe from the journal's beginning.
    var isFromBeginning = false
    /// Messages as short as they can be.
    var isShort = false
    /// Milliseconds without a message after which those that are missing are lost.
    var patience = 4000
    /// Seconds after which a peer that has not answered ends itself.
    var limit: UInt32 = 120

    static func prepare(_ count: Int, isFromBeginning: Bool = false) -> Order {
        Order(action: .prepare, count: count, isFromBeginning: isFromBeginning)
    }

    static func run(_ count: Int) -> Order {
        Order(action: .run, count: count)
    }
}
