/// Something that the bus must never do.
package enum Finding: Hashable, Sendable {
    // What the journal holds.
    case lost(Value)
    case neverSent(Value, offset: UInt64)
    case doubled(Value, offsets: [UInt64])
    /// Two messages have the same offset.
    case sharedOffset(UInt64)
    /// A value stands behind a later one of its publisher.
    case disordered(Value, behind: Value)

    // What durable consumers committed.
    case resultMissing(group: String, input: Value)
    case resultDoubled(group: String, input: Value, offsets: [UInt64])
    case resultOfNothing(group: String, input: Value, offset: UInt64)

    // What subscribers saw.
    case gap(reader: String, Value)
    case deliveredTwice(reader: String, Value)
    case deliveredOutOfOrder(reader: String, Value)
    /// The journal does not hold it, or holds it somewhere else.
    case deliveredOtherwise(reader: String, Delivery)
}

extension Finding: CustomStringConvertible {
    package var description: String {
        switch self {
        case .lost(let value): "\(value) was acknowledged and is lost"
        case .neverSent(let value, let offset): "\(value) at offset \(offset) was never sent"
        case .doubled(let value, let offsets): "\(value) was journalled more than once, at offsets \(offsets)"
        case .sharedOffset(let offset): "two messages have the offset \(offset)"
        case .disordered(let value, let later): "\(value) was journalled behind \(later), which was sent later"
        case .resultMissing(let group, let input): "\(group) has no result for \(input)"
        case .resultDoubled(let group, let input, let offsets):
            "\(group) has more than one result for \(input), at offsets \(offsets)"
        case .resultOfNothing(let group, let input, let offset):
            "\(group) has a result at offset \(offset) for \(input), which is not in the journal"
        case .gap(let reader, let value): "\(reader) did not get \(value)"
        case .deliveredTwice(let reader, let value): "\(reader) got \(value) more than once"
        case .deliveredOutOfOrder(let reader, let value): "\(reader) got \(value) out of its stream's order"
        case .deliveredOtherwise(let reader, let delivery):
            "\(reader) got \(delivery.value) at offset \(delivery.offset) of \(delivery.stream); the journal has it not there"
        }
    }
}
