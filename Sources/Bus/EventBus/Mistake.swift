/// Why no bus takes something.
package struct Mistake: Error, Hashable {
    package enum Kind: Sendable {
        case malformed
        /// It exceeds one of the ``Limits``.
        case tooLarge
        /// A type that is none, or that cannot be used so.
        case type
    }

    package let kind: Kind
    /// One line: what is wrong.
    package let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}

extension BusError {
    package init(_ mistake: Mistake) {
        self.init(.refused, mistake.message)
    }
}
