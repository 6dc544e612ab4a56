package import EventBus

/// Makes lines of messages.
package protocol MessageFormat: Sendable {
    /// What stands above the first message, without the line's end.
    var heading: String? { get }

    /// Appends the message, with the line's end.
    func write(_ message: Envelope, to lines: inout [UInt8]) throws
}

extension MessageFormat {
    package var heading: String? { nil }
}

extension [UInt8] {
    mutating func append(line text: String) {
        append(contentsOf: text.utf8)
        append(UInt8(ascii: "\n"))
    }
}
