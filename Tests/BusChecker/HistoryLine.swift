/// One line of what a process writes down while it takes part; it is there before the next thing happens.
package enum HistoryLine: Hashable, Sendable {
    /// The value is about to be handed to the bus.
    case invoked(Value, document: String?)
    /// The bus has promised to keep it.
    case acknowledged(Value)
    /// The subscription is live: what follows is of one journal.
    case live
    case delivered(Delivery)
    /// A durable consumer was given the value; its result is not committed yet.
    case handled(Value)

    /// Nil if the line is not whole: a process that is killed may leave half of one.
    package init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ")
        switch (words.first, words.count) {
        case ("invoked", 3):
            guard let value = Value(words[1]) else { return nil }
            self = .invoked(value, document: words[2] == "-" ? nil : String(words[2]))
        case ("acknowledged", 2):
            guard let value = Value(words[1]) else { return nil }
            self = .acknowledged(value)
        case ("live", 1): self = .live
        case ("delivered", 4):
            guard let offset = UInt64(words[1]), let value = Value(words[3]) else { return nil }
            self = .delivered(Delivery(offset: offset, stream: String(words[2]), value: value))
        case ("handled", 2):
            guard let value = Value(words[1]) else { return nil }
            self = .handled(value)
        default: return nil
        }
    }
}

extension HistoryLine: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invoked(let value, let document): "invoked \(value) \(document ?? "-")"
        case .acknowledged(let value): "acknowledged \(value)"
        case .live: "live"
        case .delivered(let delivery): "delivered \(delivery.offset) \(delivery.stream) \(delivery.value)"
        case .handled(let value): "handled \(value)"
        }
    }
}
