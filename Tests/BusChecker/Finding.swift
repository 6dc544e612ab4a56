/// A promise of the bus that a history shows broken.
package enum Finding: Hashable, Sendable {
    /// Acknowledged, and not in the journal.
    case lost(Value)
    /// In the journal, and nobody sent it.
    case invented(Value, offset: UInt64)
    /// In the journal more than once.
    case doubled(Value, offsets: [UInt64])
    /// Two values at one offset.
    case collided(Value, Value, offset: UInt64)
    /// One publisher sent `earlier` first, on the same subject, and the journal has `later` first.
    case reordered(earlier: Value, later: Value)
    /// In the journal, and the subscriber never got it.
    case missed(Value, subscriber: String)
    /// The subscriber got what the journal does not hold.
    case phantom(Value, subscriber: String)
    /// The subscriber got it more than once.
    case repeated(Value, subscriber: String)
    /// The journal has `earlier` first, on the same subject, and the subscriber got `later` first.
    case misordered(earlier: Value, later: Value, subscriber: String)
    /// The durable consumer committed more than one result for it.
    case handledTwice(Value, consumer: String)
    /// In the journal, and the durable consumer committed no result for it.
    case unhandled(Value, consumer: String)
    /// The durable consumer committed a result for what the journal does not hold.
    case imagined(Value, consumer: String)
}

extension Finding: CustomStringConvertible {
    package var description: String {
        switch self {
        case .lost(let value): "\(value) was acknowledged and is not in the journal"
        case .invented(let value, let offset): "\(value) is at offset \(offset) and was never sent"
        case .doubled(let value, let offsets): "\(value) is in the journal at \(offsets)"
        case .collided(let first, let second, let offset): "\(first) and \(second) are both at offset \(offset)"
        case .reordered(let earlier, let later): "\(later) stands before \(earlier) in the journal"
        case .missed(let value, let subscriber): "\(subscriber) never got \(value)"
        case .phantom(let value, let subscriber): "\(subscriber) got \(value), which is not in the journal"
        case .repeated(let value, let subscriber): "\(subscriber) got \(value) more than once"
        case .misordered(let earlier, let later, let subscriber): "\(subscriber) got \(later) before \(earlier)"
        case .handledTwice(let value, let consumer): "\(consumer) handled \(value) more than once"
        case .unhandled(let value, let consumer): "\(consumer) never handled \(value)"
        case .imagined(let value, let consumer): "\(consumer) handled \(value), which is not in the journal"
        }
    }
}
