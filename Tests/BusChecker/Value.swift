/// What one message of a test carries, once and never again: `publisher/sequence`.
///
/// A publisher is one sequential writer of one incarnation of a process: its next value waits for the acknowledgement of
/// the last one. So its values have an order that the bus must keep.
package struct Value: Hashable, Sendable {
    package let publisher: String
    package let sequence: Int

    package init(publisher: String, sequence: Int) {
        self.publisher = publisher
        self.sequence = sequence
    }

    /// Reads what ``description`` wrote; nil if it is anything else.
    package init?(_ text: some StringProtocol) {
        guard let slash = text.lastIndex(of: "/"), slash != text.startIndex,
            let sequence = Int(text[text.index(after: slash)...])
        else { return nil }
        self.init(publisher: String(text[..<slash]), sequence: sequence)
    }
}

extension Value: CustomStringConvertible {
    package var description: String { "\(publisher)/\(sequence)" }
}

extension Value: Comparable {
    package static func < (left: Value, right: Value) -> Bool {
        (left.publisher, left.sequence) < (right.publisher, right.sequence)
    }
}
