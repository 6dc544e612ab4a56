/// What one message carries: unique in a run, and it says who sent it and when among the publisher's own.
package struct Value: Hashable, Sendable {
    /// One life of one publisher: what a new incarnation sends stands in no order to what the old one did.
    package let publisher: String
    package let number: Int

    package init(publisher: String, number: Int) {
        self.publisher = publisher
        self.number = number
    }

    /// Reads `publisher/number`.
    package init?(_ text: some StringProtocol) {
        guard let slash = text.lastIndex(of: "/"), slash != text.startIndex,
            let number = Int(text[text.index(after: slash)...])
        else { return nil }
        self.init(publisher: String(text[..<slash]), number: number)
    }
}

extension Value: CustomStringConvertible {
    package var description: String { "\(publisher)/\(number)" }
}
